"""A file that onnxruntime has loaded, in this process or in that of its libraries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from modelexport_api.spec import Provider
from modelexport_exporter.core.providers import AssignedNode

Array = NDArray[Any]


class OpenedFile(Protocol):
    """A file, loaded for one provider."""

    @property
    def provider(self) -> Provider:
        """Return where it runs."""

    @property
    def assignment(self) -> tuple[AssignedNode, ...]:
        """Return the provider of each node, after onnxruntime's first optimizations."""

    @property
    def input_names(self) -> tuple[str, ...]:
        """Return the names of the inputs."""

    @property
    def output_names(self) -> tuple[str, ...]:
        """Return those of the last run's outputs, if the file returns sequences."""

    @property
    def output_shapes(self) -> Mapping[str, tuple[int | str, ...]]:
        """Return the shapes of outputs that onnxruntime infers."""

    def run(self, arrays: Mapping[str, Array], where: str) -> list[Array]:
        """Return the outputs. `where` describes the arrays in a message. Raises ExportFailure."""


class OpenFile(Protocol):
    """Loads files."""

    def __call__(self, path: Path, provider: Provider, /, *, prepack: bool) -> OpenedFile:
        """Load a file. Raises ExportFailure. `prepack=False` leaves its weights mapped."""
