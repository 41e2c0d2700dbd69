"""Lets functions of the model's code choose by sizes as `Choice` does, while torch captures."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from modelexport_exporter.convert import size_loops
from modelexport_exporter.convert.size_choices import source
from modelexport_exporter.convert.size_choices.branches import Choice, choose
from modelexport_exporter.convert.size_choices.conditions import (
    all_of,
    any_of,
    compared,
    inverse,
    speaks,
    truth_of,
)
from modelexport_exporter.convert.size_choices.elements import WITH_ELEMENT, with_element

NAMES: Mapping[str, Any] = {
    source.CHOICE: Choice,
    source.CHOOSE: choose,
    source.ALL: all_of,
    source.ANY: any_of,
    source.NOT: inverse,
    source.COMPARED: compared,
    source.TRUTH: truth_of,
    source.SPEAKS: speaks,
    source.OPERATOR: operator,
    WITH_ELEMENT: with_element,
    **size_loops.NAMES,
}
_DEEPEST = 6
"""Decorators around a function."""


@contextmanager
def choices_as_arithmetic(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Run the functions of these modules with their choices by sizes as arithmetic."""
    with ExitStack() as stack:
        for module in modules:
            codes = _changed_codes(module)
            if not codes:
                continue
            for name, value in NAMES.items():
                setattr(module, name, value)
                stack.callback(delattr, module, name)
            for function in _functions_of(module):
                old = function.__code__
                code = codes.get((old.co_qualname, old.co_firstlineno))
                if code is not None and code.co_freevars == old.co_freevars:
                    function.__code__ = code
                    stack.callback(setattr, function, "__code__", old)
        yield


def speak_of_values(modules: Sequence[ModuleType]) -> bool:
    """Return whether functions of these modules have an `if` that only prints or logs."""
    return any(
        isinstance(node, ast.If) and source.only_speaks(node)
        for module in modules
        for tree in _trees(module)
        for node in ast.walk(tree)
    )


def _trees(module: ModuleType) -> Iterator[ast.Module]:
    path = getattr(module, "__file__", None)
    with suppress(OSError, SyntaxError, UnicodeDecodeError, ValueError):
        yield ast.parse(Path(str(path)).read_text(encoding="utf-8"))


@lru_cache(maxsize=4096)
def _changed_codes(module: ModuleType) -> dict[tuple[str, int], CodeType]:
    """Return the codes of the module's functions that choose, by qualified name and line.

    Each piece of a model that is captured needs them.
    """
    for tree in _trees(module):
        changed = size_loops.with_loops(tree) | source.with_choices(tree)
        if changed:
            try:
                whole = compile(tree, str(module.__file__), "exec", dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError):
                return {}
            return {
                (code.co_qualname, code.co_firstlineno): code
                for code in _codes_in(whole)
                if (code.co_name, code.co_firstlineno) in changed
            }
    return {}


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


def _functions_of(module: ModuleType) -> Iterable[FunctionType]:
    """Return the functions of a module and of its classes, also those that decorators call."""
    found: dict[int, FunctionType] = {}
    for value in list(vars(module).values()):
        _collect(value, module, found)
        if isinstance(value, type) and value.__module__ == module.__name__:
            for own in list(vars(value).values()):
                _collect(own, module, found)
    return found.values()


def _collect(
    value: object, module: ModuleType, found: dict[int, FunctionType], depth: int = 0
) -> None:
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    if type(value) is not FunctionType or id(value) in found or depth > _DEEPEST:
        return
    if value.__globals__ is vars(module):
        found[id(value)] = value
    for cell in value.__closure__ or ():
        with suppress(ValueError):  # an empty cell
            _collect(cell.cell_contents, module, found, depth + 1)
    _collect(getattr(value, "__wrapped__", None), module, found, depth + 1)
