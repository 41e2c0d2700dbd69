"""Nodes of a file that PyTorch runs inside of onnxruntime: plain values, without torch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure


@dataclass
class TorchNodes:
    """The nodes of a file that run in PyTorch, and what went wrong in them."""

    names: list[str] = field(default_factory=list)
    """Of the operators, `aten::erfinv`."""
    domains: list[str] = field(default_factory=list)
    """Of the Python operators that replace them."""
    errors: list[str] = field(default_factory=list)

    def raise_first(self, where: str) -> None:
        """Fail if a node failed: onnxruntime cannot carry an exception of Python."""
        if self.errors:
            raise ExportFailure(
                Reason.RUNTIME_FAILED,
                f"PyTorch fails to run a node that fell through, at {where}: {self.errors[0]}",
                "A size or a branch was fixed during the export: make the code independent of "
                "sizes, or translate the operator in a plugin.",
            )


Host = Callable[[Path], AbstractContextManager[tuple[Path, TorchNodes]]]
"""Makes a copy of a file whose nodes of PyTorch's domains run in PyTorch, while it is needed."""


def library_path() -> str:
    """Return the library of onnxruntime-extensions, for a session's options."""
    from onnxruntime_extensions import get_library_path

    return str(get_library_path())
