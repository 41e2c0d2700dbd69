"""Writes into what forward was given, or past the graph: the caller sees them, a file has none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_NO_WRITES = {"requires_grad_", "rename_", "share_memory_"}
_PAST_THE_GRAPH = {"data", "detach"}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield `x[…] = …`, `x += …` and `x.add_(…)` on an input, and writes into `.data`."""
    inputs = _untouched_inputs(code)
    for node in code.walk((ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            whole = isinstance(target, ast.Name) and isinstance(node, ast.AugAssign)
            if isinstance(target, ast.Subscript) or whole:
                yield from _judged(code, node, target, inputs)
            elif isinstance(target, ast.Attribute) and target.attr == "data":
                yield _pitfall(code, node, "past the graph, into .data")
    for call in code.walk(ast.Call):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method.endswith("_") and not method.startswith("_") and method not in _NO_WRITES:
            yield from _judged(code, call, call.func.value, inputs)


def _judged(
    code: ForwardCode, node: ast.AST, target: ast.AST, inputs: set[str]
) -> Iterator[Pitfall]:
    while isinstance(target, ast.Subscript):
        target = target.value
    if _is_past_the_graph(target):
        yield _pitfall(code, node, "past the graph, into .data or .detach()")
    elif isinstance(target, ast.Name) and target.id in inputs:
        yield _pitfall(code, node, f"into the input {target.id}")


def _is_past_the_graph(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Attribute) and node.attr in _PAST_THE_GRAPH


def _untouched_inputs(code: ForwardCode) -> set[str]:
    """Return the tensors among the parameters that no assignment replaced by something new."""
    if code.tree.name != "forward":
        return set()
    replaced = {
        target.id
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    arguments = [*code.tree.args.posonlyargs, *code.tree.args.args, *code.tree.args.kwonlyargs]
    return {
        argument.arg
        for argument in arguments
        if argument.arg not in replaced
        and code.names.kind_of(ast.Name(argument.arg, ast.Load())) is Kind.TENSOR
    }


def _pitfall(code: ForwardCode, node: ast.AST, where: str) -> Pitfall:
    return Pitfall(
        PitfallKind.INPUT_WRITE,
        f"`{code.text(node)}` writes {where}: the file computes outputs only",
        code.place(node),
        "Work on a copy (x = x.clone()), or return the changed tensor.",
    )
