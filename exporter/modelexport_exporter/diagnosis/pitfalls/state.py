"""A module that changes itself in forward: the file starts from the same state at every run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield assignments to `self.x` and in-place methods on its tensors."""
    for node in code.walk((ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            name = _own_attribute(target, code.names.own)
            if name:
                yield _pitfall(code, node, name)
    for call in code.walk(ast.Call):
        if isinstance(call.func, ast.Attribute) and _is_in_place(call.func.attr):
            name = _own_attribute(call.func.value, code.names.own)
            if name and code.names.kind_of(call.func.value) is Kind.TENSOR:
                yield _pitfall(code, call, name)


def _own_attribute(node: ast.AST, own: str) -> str:
    """Return `cache` for `self.cache` and for `self.cache[0]`; `own` is the module's name."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == own else ""
    return ""


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.startswith("__") and method != "requires_grad_"


def _pitfall(code: ForwardCode, node: ast.AST, name: str) -> Pitfall:
    return Pitfall(
        PitfallKind.STATE,
        f"`{code.text(node)}` changes the module while it runs: a file has no memory between runs",
        code.place(node),
        f"Take {name} as an input of forward and return its new value, or use a local variable.",
    )
