"""The failure of a model with operators that a route cannot translate."""

from __future__ import annotations

from collections.abc import Sequence

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter
from modelexport_api.status import Support, UnsupportedOp
from modelexport_exporter.core.errors import ExportFailure

_MESSAGE_BUDGET = 1800
_HINTS = {
    Support.STANDARDISED: "{ops}: ONNX has it; raise export.opset or translate it in a plugin",
    Support.DECOMPOSABLE: "{ops}: smaller operators compute it",
    Support.NEEDS_PLUGIN: "{ops}: translate it in export.plugins, or write the line with other "
    "operators",
    Support.RUNTIME: "{ops}: onnxruntime must bring it (export.runtimeLibraries)",
}
_MOST_NAMES = 6


def unsupported_failure(ops: Sequence[UnsupportedOp], route: Exporter, opset: int) -> ExportFailure:
    """Return the failure that names all of them."""
    name = "torch.export's route" if route is Exporter.DYNAMO else "the TorchScript route"
    return ExportFailure(
        Reason.UNSUPPORTED_OPERATOR,
        f"{name} has no translation to ONNX opset {opset} for {listed(ops)}",
        hint(ops),
        ops=tuple(ops),
    )


def listed(ops: Sequence[UnsupportedOp], budget: int = _MESSAGE_BUDGET) -> str:
    """Return all names with their place; the places give way where there are too many."""
    for text in (
        "; ".join(described(op) for op in ops),
        "; ".join(_with_line(op) for op in ops),
        ", ".join(op.name for op in ops),
    ):
        if len(text) <= budget:
            return text
    return ", ".join(op.name for op in ops)[: budget - 20] + f" … ({len(ops)} in all)"


def described(op: UnsupportedOp) -> str:
    """Return `aten::erfinv.default (2 times, module encoder, model.py:7)`."""
    places = [
        f"{op.count} times" if op.count > 1 else "",
        f"module {op.module}" if op.module else "",
        op.source,
    ]
    where = ", ".join(place for place in places if place)
    return f"{op.name} ({where})" if where else op.name


def _with_line(op: UnsupportedOp) -> str:
    return f"{op.name} ({op.source})" if op.source else op.name


def hint(ops: Sequence[UnsupportedOp]) -> str:
    """Return what to do for each kind of support, in short."""
    if len(ops) == 1:
        return f"{ops[0].support.value}: {ops[0].hint}"
    parts = []
    for support, text in _HINTS.items():
        names = [op.name.removesuffix(".default") for op in ops if op.support is support]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            parts.append(text.format(ops=", ".join(names[:_MOST_NAMES]) + more))
    skeletons = "`modelexport diagnose MANIFEST --skeleton DIR` writes plugins to fill in."
    return "; ".join(parts) + f". {skeletons}"
