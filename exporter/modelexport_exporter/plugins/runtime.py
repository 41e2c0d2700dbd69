"""What a file needs of the runtime beyond ONNX: libraries, and operators that nobody brings.

Guarantees that a library which cannot be loaded, and an operator which onnxruntime does not know,
are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.foreign_messages import UNKNOWN_OPERATOR
from modelexport_exporter.core.types import ContractFinding
from modelexport_exporter.plugins.fall_through.hosted_nodes import Host

_STANDARD = frozenset({"", "ai.onnx"})
_OF_ONNXRUNTIME = frozenset({"com.microsoft", "ai.onnx.ml", "ai.onnx.preview.training"})


def register_libraries(options: Any, libraries: Iterable[Path]) -> None:  # noqa: ANN401
    """Let a session's options load libraries of custom operators. Raises ExportFailure."""
    for library in libraries:
        try:
            options.register_custom_ops_library(str(library))
        except Exception as error:
            text = " ".join(str(error).split())[:400]
            raise ExportFailure(
                Reason.RUNTIME_FAILED,
                f"onnxruntime cannot load the library {library.name} of export.runtimeLibraries: "
                f"{text}",
                "It must be a shared library for this platform that exports RegisterCustomOps, "
                "and the libraries that it needs must be installed where the export runs.",
            ) from error


def unknown_operator(text: str) -> str:
    """Return `domain::Operator` where onnxruntime's message says that it knows none such."""
    match = UNKNOWN_OPERATOR.search(text)
    return f"{match.group(1)}::{match.group(2)}" if match else ""


class UnknownOperator(ExportFailure):
    """A file holds an operator that the runtime does not have."""

    def __init__(self, operator: str) -> None:
        super().__init__(
            Reason.RUNTIME_FAILED,
            f"onnxruntime does not know {operator}, so that the file cannot run",
            "Give its library in export.runtimeLibraries, or define its body in onnx_functions of "
            "a plugin. With export.unsupportedOps: FallThrough operators that PyTorch has run in "
            "PyTorch during verification.",
        )
        self.operator = operator


def _nothing(_options: object) -> None:
    """Configure nothing."""


@dataclass(frozen=True)
class SessionSetup:
    """What plugins and libraries add to a session."""

    configure: Callable[[Any], None] = _nothing
    """Called with the session's options before the file is loaded."""
    host: Host | None = None
    """Lets PyTorch run unknown operators that it has (FallThrough); None: nobody runs them."""


def foreign_operators(
    op_counts: dict[str, int], functions: frozenset[str]
) -> tuple[ContractFinding, ...]:
    """Return a finding for each operator of the file that a consumer's runtime must bring."""
    findings = []
    for name, count in op_counts.items():
        domain = name.rpartition("::")[0]
        if domain in _STANDARD | _OF_ONNXRUNTIME or name in functions:
            continue
        nodes = "1 node" if count == 1 else f"{count} nodes"
        findings.append(
            ContractFinding(
                subject=f"operator {name}",
                requested="an operator of ONNX",
                obtained=f"{nodes} of domain {domain}: the consumer's runtime must bring it",
            )
        )
    return tuple(findings)
