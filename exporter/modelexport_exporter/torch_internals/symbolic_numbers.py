"""`int(x)`, `float(x)` and `math.sqrt(x)` of symbolic sizes, which stay symbolic.

Python's `int` has to return a number: of a symbolic size torch.export then takes the example's, and
the graph holds for that size only. `round`, `math.floor` and the operators need no help.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch

_SYMBOLIC = (torch.SymInt, torch.SymFloat)


class _NumberType(type):
    """A built-in type by another name: whatever is asked of it, that type answers."""

    plain: type
    symbolic: type
    of_size: Callable[[Any], Any]

    def __call__(cls, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if len(args) == 1 and isinstance(args[0], _SYMBOLIC):
            return cls.of_size(args[0])
        if len(args) == 1 and isinstance(args[0], torch.SymBool):
            return cls.plain(bool(args[0]))
        return cls.plain(*args, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.plain | cls.symbolic)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.plain)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.plain

    def __hash__(cls) -> int:
        return hash(cls.plain)

    def __or__(cls, other: Any) -> Any:  # noqa: ANN401
        return cls.plain | other

    def __getattr__(cls, name: str) -> Any:  # noqa: ANN401
        return getattr(cls.plain, name)


class _SizeInt(metaclass=_NumberType):
    plain = int
    symbolic = torch.SymInt
    of_size = staticmethod(torch.sym_int)


class _SizeFloat(metaclass=_NumberType):
    plain = float
    symbolic = torch.SymFloat
    of_size = staticmethod(torch.sym_float)


_square_root = math.sqrt


def _size_square_root(x: Any) -> Any:  # noqa: ANN401
    """Return math.sqrt(x)."""
    if isinstance(x, _SYMBOLIC):
        return torch._sym_sqrt(x)  # type: ignore[attr-defined]  # noqa: SLF001
    return _square_root(x)


@contextmanager
def sizes_stay_symbolic(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Let the code of these modules compute with symbolic sizes, while the block runs."""
    changed: list[tuple[ModuleType, str, Any]] = []

    def set_name(module: ModuleType, name: str, value: object) -> None:
        changed.append((module, name, vars(module).get(name)))
        setattr(module, name, value)

    for module in modules:
        for name, value in (("int", _SizeInt), ("float", _SizeFloat)):
            if name not in vars(module):
                set_name(module, name, value)
        for name in [name for name, value in vars(module).items() if value is _square_root]:
            set_name(module, name, _size_square_root)
    set_name(math, "sqrt", _size_square_root)
    try:
        yield
    finally:
        for module, name, before in reversed(changed):
            if before is None:
                delattr(module, name)
            else:
                setattr(module, name, before)
