"""A case of the table, and the inputs that many of them declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelexport_api.reasons import Reason

R = Reason


@dataclass(frozen=True)
class Case:
    """A refusal."""

    factory: str
    """The class in the file."""
    inputs: Sequence[Mapping[str, Any]]
    dims: Mapping[str, tuple[int, int]]
    reason: Reason
    says: Sequence[str]
    """Each must be in the message."""
    advises: str
    """Must be in the hint."""
    line: str = ""
    """Code whose line must be named, `FILE.py:17`; empty: no line of the model is at fault."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    mended: Mapping[str, Any] | None = None
    """What the hint advises, as fields of the spec: with them the export must succeed."""
    file: str = "refused"
    """Below `code`."""
    attempts: int | None = None
    """On how many rungs it may fail; None: on any number, and the case is a nightly one."""

    def __str__(self) -> str:
        return self.factory


def tensor(
    name: str, *shape: int | str, dtype: str = "float32", limits: Sequence[float] = (-3, 3)
) -> dict[str, Any]:
    """Return an input as the spec declares it."""
    return {"name": name, "shape": list(shape), "dtype": dtype, "range": list(limits)}


def ids(name: str, *shape: int | str, most: int) -> dict[str, Any]:
    """Return an input of integers from 0."""
    return tensor(name, *shape, dtype="int64", limits=(0, most))


ROWS = [tensor("x", "b", 4)]
B = {"b": (1, 8)}
