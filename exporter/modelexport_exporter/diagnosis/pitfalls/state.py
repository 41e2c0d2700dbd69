"""A module that changes itself in forward: the file starts from the same state at every run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_OF_LISTS = frozenset({"append", "appendleft", "extend", "insert", "popleft"})
_OF_DICTS = frozenset(
    {"add", "clear", "discard", "pop", "popitem", "remove", "setdefault", "update"}
)
_CONTAINERS = frozenset({"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter"})


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield assignments to `self.x` and to global names, and methods that change `self.x`."""
    shared = {name for node in code.walk(ast.Global) for name in node.names}
    for node in code.walk((ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            name = _own_attribute(target, code.names.own)
            if name:
                yield _pitfall(code, node, name)
            elif isinstance(target, ast.Name) and target.id in shared:
                yield _pitfall(code, node, target.id, f"the global {target.id}")
    yield from _of_defaults(code)
    for call in code.walk(ast.Call):
        if isinstance(call.func, ast.Attribute) and _changes(code, call.func):
            name = _own_attribute(call.func.value, code.names.own)
            if name:
                yield _pitfall(code, call, name)
        elif code.dotted(call.func) == "next" and call.args:
            name = _own_attribute(call.args[0], code.names.own)
            if name:
                yield _pitfall(code, call, name)


def _of_defaults(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield what changes a default that is a list, dict or set: Python makes it once."""
    kept = _mutable_defaults(code.tree)
    for node in code.walk((ast.Assign, ast.AugAssign, ast.Delete, ast.Call)) if kept else ():
        name = next((name for name in _changed_names(node) if name in kept), "")
        if name:
            yield _pitfall(code, node, name, f"the default of the argument {name}")


def _mutable_defaults(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the parameters whose default is a list, dict or set, written in the signature."""
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    last = arguments[len(arguments) - len(tree.args.defaults) :]
    pairs = [
        *zip(last, tree.args.defaults, strict=True),
        *zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True),
    ]
    return {argument.arg for argument, default in pairs if _is_container(default)}


def _is_container(default: ast.expr | None) -> bool:
    if isinstance(default, ast.Call) and isinstance(default.func, ast.Name):
        return default.func.id in _CONTAINERS
    return isinstance(default, ast.List | ast.Dict | ast.Set)


def _changed_names(node: ast.AST) -> Iterator[str]:
    """Yield `x` for `x[0] = …`, `x += …`, `del x[0]` and `x.append(…)`."""
    if isinstance(node, ast.Call):
        match node.func:
            case ast.Attribute(ast.Name(name), method) if method in _OF_LISTS | _OF_DICTS:
                yield name
        return
    targets = [node.target] if isinstance(node, ast.AugAssign) else getattr(node, "targets", [])
    for target in targets:
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target.value.id
        elif isinstance(node, ast.AugAssign) and isinstance(target, ast.Name):
            yield target.id


def _changes(code: ForwardCode, method: ast.Attribute) -> bool:
    """Return whether a method changes its tensor or its list."""
    if _is_in_place(method.attr):
        return code.names.kind_of(method.value) is Kind.TENSOR
    return method.attr in _OF_LISTS


def _own_attribute(node: ast.AST, own: str) -> str:
    """Return `cache` for `self.cache` and for `self.cache[0]`; `own` is the module's name."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == own else ""
    return ""


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.startswith("__") and method != "requires_grad_"


def _pitfall(code: ForwardCode, node: ast.AST, name: str, owner: str = "the module") -> Pitfall:
    return Pitfall(
        PitfallKind.STATE,
        f"`{code.text(node)}` changes {owner} while it runs: a file has no memory between runs",
        code.place(node),
        f"Take {name} as an input of forward and return its new value, or use a local variable.",
    )
