"""Functions of the user's with functools.lru_cache, without their caches while torch watches.

A cached mask or table is a constant for one size. The symbolic size of a capture cannot be a key,
and a tensor without contents, or one in another arithmetic, would be returned to later runs.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import CellType, FunctionType, ModuleType
from typing import Any

import torch

from modelexport_exporter.core.user_frame import is_users
from modelexport_exporter.user_code.mutable_defaults import keeping_defaults

_CACHED = type(functools.lru_cache(len))


@contextmanager
def bypassing_caches(module: torch.nn.Module, modules: Iterable[ModuleType]) -> Iterator[None]:
    """Call the functions themselves; leave defaults of parameters and global dicts as they are.

    `modules`: the Python modules whose functions and classes are meant, with the classes of
    `module` and what is set on its parts.
    """
    parts, modules = list(module.modules()), list(modules)
    classes = {own for part in parts for own in type(part).__mro__ if _is_of_a_user(own)}
    classes.update(own for code in modules for own in _classes_in(code))
    with ExitStack() as restoring:
        restoring.enter_context(keeping_defaults(module))
        for code in modules:
            for name, value in list(vars(code).items()):
                if type(value) is dict and not name.startswith("__"):
                    restoring.callback(_restore, value, dict(value))
        for owner in (*modules, *classes, *parts):
            for name, value in list(vars(owner).items()):
                plain = _without_cache(value)
                if plain is not None:
                    setattr(owner, name, plain)
                    restoring.callback(setattr, owner, name, value)
                for cell, cached in _enclosed(value):
                    cell.cell_contents = cached.__wrapped__
                    restoring.callback(setattr, cell, "cell_contents", cached)
        yield


def modules_of(module: torch.nn.Module, code_dir: Path | None) -> list[ModuleType]:
    """Return the Python modules of the model's classes, and all of the user's.

    With those of a library's own functions that its classes call: `transformers.utils.generic`.
    """
    classes = {type(part).__module__ for part in module.modules()}
    loaded = {name: own for name, own in list(sys.modules.items()) if _package(name) != "torch"}
    helpers = {
        value.__module__
        for name in classes & loaded.keys()
        for value in vars(loaded[name]).values()
        if type(value) is FunctionType and _package(value.__module__) == _package(name)
    }
    return [
        own
        for name, own in loaded.items()
        if name in classes
        or name in helpers
        or is_users(str(getattr(own, "__file__", None) or "<"), code_dir)
    ]


def _package(name: str | None) -> str:
    return (name or "").partition(".")[0]


def _without_cache(value: Any) -> Any:  # noqa: ANN401
    """Return the function behind a cache; None where there is no cache."""
    # By its type: isinstance asks objects for their __class__, and some warn or load a module.
    if type(value) is _CACHED:
        return value.__wrapped__
    if type(value) is staticmethod and type(value.__func__) is _CACHED:
        return staticmethod(value.__func__.__wrapped__)
    return None


def _enclosed(value: Any) -> Iterator[tuple[CellType, Any]]:  # noqa: ANN401
    """Yield the caches that a decorator's function calls, as in transformers, with their cells."""
    function = value.__func__ if type(value) is staticmethod else value
    for cell in (type(function) is FunctionType and function.__closure__) or ():
        with suppress(ValueError):  # an empty cell
            if type(cell.cell_contents) is _CACHED:
                yield cell, cell.cell_contents


def _classes_in(module: ModuleType) -> Iterator[type]:
    for value in list(vars(module).values()):
        if issubclass(type(value), type) and value.__module__ == module.__name__:
            yield value


def _restore(found: dict[Any, Any], before: dict[Any, Any]) -> None:
    """Forget what was put into a dict: `if size not in GRIDS: GRIDS[size] = …`."""
    same = len(found) == len(before) and all(found[key] is before.get(key) for key in found)
    if not same:
        found.clear()
        found.update(before)


def _is_of_a_user(own: type) -> bool:
    return own.__module__.partition(".")[0] not in {"torch", "builtins"}
