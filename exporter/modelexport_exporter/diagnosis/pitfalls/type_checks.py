"""Checks of Python types and of the exporter itself: they are decided once, at the capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_ASKS_EXPORT = {"is_in_onnx_export", "is_tracing", "is_exporting", "is_compiling", "is_scripting"}
_NUMBER_TYPES = {"int", "float", "bool"}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield branches that only an export takes, and type checks on sizes and numbers."""
    for branch in code.walk((ast.If, ast.IfExp)):
        for call in (node for node in ast.walk(branch.test) if isinstance(node, ast.Call)):
            if code.dotted(call.func).rpartition(".")[2] in _ASKS_EXPORT:
                yield Pitfall(
                    PitfallKind.EXPORT_BRANCH,
                    f"`if {code.text(branch.test)}` runs other code in an export than in PyTorch",
                    code.place(branch),
                    "Let both branches compute the same, or remove the branch: verification "
                    "compares with what runs outside of an export.",
                )
            elif code.dotted(call.func) == "isinstance" and _is_number_check(code, call):
                yield Pitfall(
                    PitfallKind.TYPE_CHECK,
                    f"`{code.text(call)}` asks whether a size is a Python number, which it is not "
                    "in a capture",
                    code.place(call),
                    "Treat sizes alike whatever their type, or use torch.sym_max and its like.",
                )


def _is_number_check(code: ForwardCode, call: ast.Call) -> bool:
    expected = 2
    if len(call.args) != expected:
        return False
    names = {node.id for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)}
    kind = code.names.kind_of(call.args[0])
    return bool(names & _NUMBER_TYPES) and kind in {Kind.SIZE, Kind.VALUE}
