"""Inputs and dims that were found for a model, and what the user states of them.

Plain values: the supervisor sends a request to a worker, which answers with a proposal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modelexport_api.spec import Dim, DType, Format, Input, InputKind
from modelexport_exporter.core.inferred import Inferred


@dataclass(frozen=True)
class StatedInput:
    """What the user states of an input; None for what is to be found."""

    name: str
    dtype: DType | None = None
    shape: tuple[int | str, ...] | None = None
    range: tuple[float, float] | None = None
    kind: InputKind | None = None


@dataclass(frozen=True)
class Stated:
    """What the user states of the inputs."""

    inputs: tuple[StatedInput, ...] = ()
    dims: Mapping[str, Dim] | None = None


@dataclass(frozen=True)
class Proposal:
    """What forward takes."""

    inputs: tuple[Input, ...]
    dims: dict[str, Dim]
    inferred: tuple[Inferred, ...]
    """What the user does not state, with how it was found."""
    format: Format
    model: str
    """Class of the module."""
    parameters: int
    runs: int
    """Calls of forward that the search took."""
    keeps_example: bool = False
    """Whether the spec needs model.exampleInputs: for arguments that inputs cannot describe."""
