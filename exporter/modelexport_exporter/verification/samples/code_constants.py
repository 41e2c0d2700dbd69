"""Numbers that the user's code names: thresholds, ids, limits.

`777 in ids.tolist()` is a branch of Python: no file shows the number, and no random id is 777. The
numbers are read from the code of the modules' own files and from the attributes of the modules.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import torch

from modelexport_exporter.core.user_frame import is_users

LARGEST = 10_000_000
MOST = 64
"""Numbers of a model, the first ones: a table in code is no list of thresholds."""


def code_constants(module: torch.nn.Module, code_dir: Path | None) -> tuple[float, ...]:
    """Return the numbers in the code and the attributes of the module's own classes, in order.

    0, 1 and -1 are among the samples anyway.
    """
    found: dict[float, None] = {}
    files: set[str] = set()
    for part in module.modules():
        own = sys.modules.get(type(part).__module__)
        if own is None or not _is_own(own, code_dir):
            continue
        found |= dict.fromkeys(_numbers(vars(part).values()))
        if own.__name__ not in files:
            files.add(own.__name__)
            found |= dict.fromkeys(_numbers(vars(own).values()))
            for code in _codes(own):
                found |= dict.fromkeys(_numbers(code.co_consts))
    return tuple(found)[:MOST]


def _is_own(module: ModuleType, code_dir: Path | None) -> bool:
    filename = getattr(module, "__file__", None)
    return isinstance(filename, str) and is_users(filename, code_dir)


def _codes(module: ModuleType) -> Iterator[CodeType]:
    """Yield the code of all functions and methods that a Python module defines."""
    for value in vars(module).values():
        members = vars(value).values() if inspect.isclass(value) else (value,)
        if getattr(value, "__module__", None) != module.__name__:
            continue
        for member in members:
            function = inspect.unwrap(member) if callable(member) else member
            if isinstance(function, FunctionType):
                yield from _nested(function.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _numbers(values: Iterable[object]) -> Iterator[float]:
    for value in values:
        if isinstance(value, tuple | frozenset):
            yield from _numbers(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and _is_usable(value):
            yield value


def _is_usable(number: float) -> bool:
    return math.isfinite(number) and abs(number) <= LARGEST and number not in {0, 1, -1}
