"""The user's code with a call around each expression that may be a set and is gone through."""

from __future__ import annotations

import ast

IN_ORDER = "_modelexport_in_order"
"""What is called with what is gone through, and returns it in the order that is wanted."""
POP = "_modelexport_pop"
"""What is called for `x.pop()`, with x."""
_CALLED = frozenset(
    {
        "chain", "deque", "enumerate", "extend", "filter", "from_iterable", "fromkeys", "iter",
        "join", "list", "map", "max", "min", "ModuleDict", "ModuleList", "OrderedDict",
        "ParameterDict", "ParameterList", "reduce", "Sequential", "sorted", "sum", "tuple", "zip",
    }
)  # fmt: skip
"""Functions and methods whose result follows the order of an argument."""


def ordering(tree: ast.Module) -> ast.Module:
    """Return the code with calls of `IN_ORDER` and `POP`. It has the lines of the original."""
    changed: ast.Module = _Wrapping().visit(tree)
    return ast.fix_missing_locations(changed)


class _Wrapping(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.For | ast.comprehension):
            node.iter = _in_order(node.iter)
        elif isinstance(node, ast.YieldFrom | ast.Starred | ast.Assign) and _is_gone_through(node):
            node.value = _in_order(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = _last_name(node.func)
        if name in _CALLED:
            node.args = [
                own if isinstance(own, ast.Starred) else _in_order(own) for own in node.args
            ]
        elif name == "pop" and isinstance(node.func, ast.Attribute) and not _arguments(node):
            return ast.copy_location(_call(POP, node.func.value), node)
        return node


def _is_gone_through(node: ast.YieldFrom | ast.Starred | ast.Assign) -> bool:
    """Return whether the node takes the elements of its value."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
    return not isinstance(node, ast.Starred) or isinstance(node.ctx, ast.Load)


def _arguments(node: ast.Call) -> bool:
    return bool(node.args or node.keywords)


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _in_order(value: ast.expr) -> ast.expr:
    written = isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.Constant | ast.GeneratorExp)
    return value if written else ast.copy_location(_call(IN_ORDER, value), value)


def _call(name: str, value: ast.expr) -> ast.Call:
    function = ast.copy_location(ast.Name(name, ast.Load()), value)
    return ast.copy_location(ast.Call(function, [value], []), value)
