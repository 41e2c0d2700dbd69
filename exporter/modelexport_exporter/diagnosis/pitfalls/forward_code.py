"""The user's own code that runs in forward: methods and functions, with what is known of names.

Only code that is the user's is read: what libraries do is seen when the model runs.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.core.user_frame import is_users, shorten
from modelexport_exporter.diagnosis.pitfalls.names import Kind, Names, parameter_kinds

Function = ast.FunctionDef | ast.AsyncFunctionDef
_MOST_FUNCTIONS = 500


@dataclass(frozen=True)
class ForwardCode:
    """One function that runs in forward."""

    tree: Function
    filename: str
    names: Names
    globals: Mapping[str, Any]

    def place(self, node: ast.AST) -> str:
        """Return `model.py:17`."""
        return f"{self.filename}:{getattr(node, 'lineno', self.tree.lineno)}"

    def text(self, node: ast.AST) -> str:
        """Return the code of a node on one line."""
        return " ".join(ast.unparse(node).split())[:80]

    def walk(self, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[Any]:
        """Yield the nodes of a kind, in the order of the code."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, kind)]
        yield from sorted(found, key=lambda node: (getattr(node, "lineno", 0), node.col_offset))  # type: ignore[attr-defined]

    def dotted(self, node: ast.AST) -> str:
        """Return `numpy.random.rand` for `np.random.rand`; empty for what is no such path."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        owner = self.globals.get(node.id)
        first = owner.__name__ if isinstance(owner, types.ModuleType) else node.id
        if isinstance(owner, types.FunctionType | types.BuiltinFunctionType) and not parts:
            first = f"{owner.__module__}.{owner.__qualname__}"
        return ".".join([first, *reversed(parts)])


@dataclass(frozen=True)
class _Module:
    part: torch.nn.Module
    own: str
    """What the function calls it; nearly always `self`."""


def forward_codes(model: torch.nn.Module, code_dir: Path | None) -> list[ForwardCode]:
    """Return the code of every part of the model that is the user's, each function once."""
    found: list[ForwardCode] = []
    seen: set[types.CodeType] = set()
    for part in model.modules():
        forward = inspect.unwrap(getattr(part, "forward", None) or (lambda: None))
        function = getattr(forward, "__func__", forward)
        if isinstance(function, types.FunctionType):
            own = _first_parameter(function) if function is not forward else "self"
            found += _reachable(function, _Module(part, own), None, seen, code_dir)
        if len(found) > _MOST_FUNCTIONS:
            break
    return found


def _reachable(
    function: types.FunctionType,
    module: _Module,
    arguments: list[Kind] | None,
    seen: set[types.CodeType],
    code_dir: Path | None,
) -> Iterator[ForwardCode]:
    """Yield a function and the user's functions that it calls."""
    code = function.__code__
    if code in seen or not is_users(code.co_filename, code_dir):
        return
    seen.add(code)
    tree = _function_at(code.co_filename, code.co_firstlineno, code.co_name)
    if tree is None:
        return
    kinds = parameter_kinds(tree, arguments)
    names = Names(module.part, function.__globals__, kinds, module.own)
    names.learn(tree)
    yield ForwardCode(tree, shorten(code.co_filename, code_dir), names, function.__globals__)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called, bound = _called(call, module, function.__globals__)
        if isinstance(called, types.FunctionType):
            given = [names.kind_of(argument) for argument in call.args]
            its_own = _first_parameter(called) if bound else "self"
            of = _Module(module.part, its_own)
            given = [Kind.OTHER, *given] if bound else given
            yield from _reachable(called, of, given, seen, code_dir)


def _first_parameter(function: types.FunctionType) -> str:
    code = function.__code__
    return code.co_varnames[0] if code.co_argcount else "self"


def _called(call: ast.Call, module: _Module, scope: Mapping[str, Any]) -> tuple[object, bool]:
    """Return the function of `helper(…)` or `self.helper(…)`, and whether it gets self."""
    if isinstance(call.func, ast.Name):
        return inspect.unwrap(scope.get(call.func.id) or (lambda: None)), False
    if (
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == module.own
    ):
        static = inspect.getattr_static(type(module.part), call.func.attr, None)
        if isinstance(static, staticmethod):
            return static.__func__, False
        return static, True
    return None, False


@cache
def _parsed(filename: str) -> ast.Module | None:
    try:
        return ast.parse(Path(filename).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None


def _function_at(filename: str, line: int, name: str) -> Function | None:
    tree = _parsed(filename)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, Function) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == line:
                return node
    return None
