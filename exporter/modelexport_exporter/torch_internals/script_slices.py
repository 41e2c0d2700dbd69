"""Parts of lists, `parts[1:]` and `parts[::-1]`, of which torch.onnx makes slices of tensors.

ONNX has no slice of a sequence. They are compiled as a loop over places.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from modelexport_exporter.torch_internals.script_source import appended_names, expression_at


def copy_places(definition: ast.FunctionDef) -> None:
    """Write the slices of lists that the function makes element by element as loops over places."""
    lists = {name for node in ast.walk(definition) for name in _assigned_list(node)}
    _Slices(appended_names(definition) & lists).visit(definition)


def _assigned_list(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign([target], value) | ast.AnnAssign(target, _, value):
            yield from _lists(target, value)


def _lists(target: ast.expr, value: ast.expr | None) -> Iterator[str]:
    match target, value:
        case ast.Name(name), ast.List():
            yield name
        case ast.Tuple(targets), ast.Tuple(values):
            for one, other in zip(targets, values, strict=False):
                yield from _lists(one, other)


class _Slices(ast.NodeTransformer):
    def __init__(self, lists: Collection[str]) -> None:
        self._lists = lists

    def visit_Subscript(self, subscript: ast.Subscript) -> ast.AST:
        self.generic_visit(subscript)
        match subscript:
            case ast.Subscript(ast.Name(name), ast.Slice() as part, ast.Load()):
                places = _places(name, part) if name in self._lists else ""
                if places:
                    return expression_at(f"[{name}[_place] for _place in {places}]", subscript)
        return subscript


def _places(name: str, part: ast.Slice) -> str:
    """Return the range of places; empty where a bound or the step is no constant."""
    step = _constant(part.step, 1)
    if step == -1 and part.lower is None and part.upper is None:
        return f"range(len({name}) - 1, -1, -1)"
    if step is None or step < 1:
        return ""
    first, end = _bound(name, part.lower, "0"), _bound(name, part.upper, f"len({name})")
    return f"range({first}, {end}, {step})" if first and end else ""


def _bound(name: str, bound: ast.expr | None, default: str) -> str:
    if bound is None:
        return default
    number = _constant(bound, 0)
    if number is None:
        return ""
    if number < 0:
        return f"max(len({name}) - {-number}, 0)"
    return f"min({number}, len({name}))"


def _constant(expression: ast.expr | None, default: int) -> int | None:
    if expression is None:
        return default
    try:
        value = ast.literal_eval(expression)
    except ValueError:
        return None
    return value if type(value) is int else None
