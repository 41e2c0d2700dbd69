"""Numbers that the user's code names: thresholds, ids, limits.

`777 in ids.tolist()` is a branch of Python: no file shows the number, and no random id is 777. The
numbers are read from all of the user's files and from the attributes of the modules and their
classes, also where a list, a set, a dict, an enumeration or a short text holds them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from itertools import chain, islice
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import torch

from modelexport_exporter.core.user_frame import is_below, is_users

LARGEST = 10_000_000
MOST = 64
"""Numbers of a model, the first ones: a table in code is no list of thresholds."""
LONGEST_TEXT = 40
"""Characters of a text that may stand for numbers: a key such as `12-777`, and no sentence."""
_ATTRIBUTES = frozenset(vars(torch.nn.Module()))
"""What torch keeps in each module: names of layers are numbers in a Sequential."""
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?", re.IGNORECASE)


def code_constants(module: torch.nn.Module, code_dir: Path | None) -> tuple[float, ...]:
    """Return the numbers in the code and the attributes of the module's own classes, in order.

    0, 1 and -1 are among the samples anyway.
    """
    found: dict[float, None] = {}
    files: dict[str, ModuleType] = {}
    for part in module.modules():
        own = sys.modules.get(type(part).__module__)
        if own is None or not _is_own(own, code_dir):
            continue
        found |= dict.fromkeys(_numbers((*_own_values(part), *_scalars(part))))
        if own.__name__ not in files:
            files[own.__name__] = own
            found |= _numbers_of_file(own)
    for own in _others(files, code_dir) if files else ():
        found |= _numbers_of_file(own)
    return tuple(found)[:MOST]


def numbers_of_code(code: CodeType) -> Iterator[float]:
    """Yield the numbers in a function's code, those of inner functions last."""
    documentation = code.co_consts[:1] if _is_documented(code) else ()
    yield from _numbers(constant for constant in code.co_consts if constant not in documentation)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from numbers_of_code(constant)


def _is_documented(code: CodeType) -> bool:
    """Return whether the first constant may be the documentation of a function."""
    return bool(code.co_consts) and isinstance(code.co_consts[0], str) and " " in code.co_consts[0]


def _is_own(module: ModuleType, code_dir: Path | None) -> bool:
    filename = getattr(module, "__file__", None)
    return isinstance(filename, str) and is_users(filename, code_dir)


def _others(files: Collection[str], code_dir: Path | None) -> Iterator[ModuleType]:
    """Yield the other files of the user's code that are imported."""
    for name, own in list(sys.modules.items()):
        filename = getattr(own, "__file__", None)
        if isinstance(filename, str) and is_below(filename, code_dir) and name not in files:
            yield own


def _numbers_of_file(module: ModuleType) -> dict[float, None]:
    found = dict.fromkeys(_numbers(_own_values(module)))
    for value in vars(module).values():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            members = [one.value for one in value] if issubclass(value, Enum) else []
            found |= dict.fromkeys(_numbers([*members, *_own_values(value)]))
        for function in _functions(value):
            defaults = (function.__defaults__ or (), function.__kwdefaults__ or {})
            found |= dict.fromkeys(_numbers(defaults))
            found |= dict.fromkeys(numbers_of_code(function.__code__))
    return found


def _scalars(part: torch.nn.Module) -> Iterator[float]:
    """Yield the floats among the buffers and parameters of one element: scales, thresholds."""
    for tensor in (*part.buffers(recurse=False), *part.parameters(recurse=False)):
        if tensor.numel() == 1 and tensor.is_floating_point() and not tensor.is_meta:
            yield float(tensor.detach())


def _own_values(holder: object) -> Iterator[object]:
    """Yield the attributes that the user gave a module, a class or a file: no documentation."""
    for name, value in vars(holder).items():
        if name not in _ATTRIBUTES and not (name.startswith("__") and name.endswith("__")):
            yield value


def _functions(value: object) -> Iterator[FunctionType]:
    """Yield a function, or the methods of a class."""
    for member in vars(value).values() if inspect.isclass(value) else (value,):
        function = inspect.unwrap(member) if callable(member) else member
        if isinstance(function, FunctionType):
            yield function


def _numbers(values: Iterable[object]) -> Iterator[float]:
    texts = []
    for value in values:
        if isinstance(value, tuple | frozenset | list | set):
            yield from _numbers(islice(value, MOST))
        elif isinstance(value, dict):
            yield from _numbers(islice(chain(*value.items()), MOST))
        elif isinstance(value, str):
            texts.append(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and _is_usable(value):
            yield value
    for text in texts:
        yield from _numbers_in(text)


def _numbers_in(text: str) -> Iterator[float]:
    for digits in _NUMBER.findall(text) if len(text) <= LONGEST_TEXT else ():
        number = int(digits, 16) if digits[:2] in {"0x", "0X"} else float(digits)
        if _is_usable(number):
            yield int(number) if number == int(number) else number


def _is_usable(number: float) -> bool:
    return abs(number) <= LARGEST and number not in {0, 1, -1}  # not NaN; an int of any size
