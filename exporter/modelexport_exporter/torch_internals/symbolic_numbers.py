"""Functions of Python stay symbolic for symbolic sizes and tensors: `int`, `float`, `len`, `range`.

Python's `int` and `len` have to return a number: of a symbolic size torch.export then takes the
example's, and the graph holds for that size only; of a tensor it refuses most uses of an `int`.
`round`, `math.floor` and the operators need no help with sizes, except `divmod` and what looks for
a power of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import torch

from modelexport_exporter.torch_internals import bits_of_sizes
from modelexport_exporter.torch_internals.functions_of_sizes import FunctionOfSize, of_sizes
from modelexport_exporter.torch_internals.symbolic_ranges import SizeRange
from modelexport_exporter.torch_internals.symbolic_sizes import largest

_SYMBOLIC = (torch.SymInt, torch.SymFloat)


class _NumberType(type):
    """A built-in type by another name: whatever is asked of it, that type answers."""

    plain: type
    symbolic: type | tuple[type, ...]
    of_size: Callable[[Any], Any]
    dtype: torch.dtype
    of_tensors = False
    """Whether a number of a tensor stays a tensor []."""

    def __call__(cls, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if cls.of_tensors and len(args) == 1 and isinstance(args[0], torch.Tensor):
            return args[0].reshape(()).to(cls.dtype)
        if len(args) == 1 and isinstance(args[0], _SYMBOLIC):
            return cls.of_size(args[0])
        if len(args) == 1 and isinstance(args[0], FunctionOfSize) and cls.plain is int:
            return math.trunc(args[0])
        if len(args) == 1 and isinstance(args[0], FunctionOfSize):
            return args[0]
        if len(args) == 1 and isinstance(args[0], torch.SymBool):
            return cls.plain(bool(args[0]))
        return cls.plain(*args, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (cls.plain, cls.symbolic))

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
    dtype = torch.int64


class _SizeFloat(metaclass=_NumberType):
    plain = float
    symbolic = (torch.SymFloat, FunctionOfSize)
    of_size = staticmethod(torch.sym_float)
    dtype = torch.float64


class _TensorInt(_SizeInt):
    of_tensors = True


class _TensorFloat(_SizeFloat):
    of_tensors = True


def _stands_for_many(element: Any) -> bool:  # noqa: ANN401
    return hasattr(type(element), "stands_for_many")


def _size_len(x: Any, /) -> Any:  # noqa: ANN401
    """Return len(x), of a tensor its first size, of a list as long as a size its length."""
    if isinstance(x, list | tuple) and any(map(_stands_for_many, iter(x))):
        return sum(one.count if _stands_for_many(one) else 1 for one in iter(x))
    return x.shape[0] if isinstance(x, torch.Tensor) and x.dim() else len(x)


_BUILT_IN: dict[str, Any] = {
    "int": _SizeInt,
    "float": _SizeFloat,
    "len": _size_len,
    "range": SizeRange,
}
_square_root, _log2 = math.sqrt, math.log2


def _size_square_root(x: Any) -> Any:  # noqa: ANN401
    """Return math.sqrt(x)."""
    if isinstance(x, _SYMBOLIC):
        return torch._sym_sqrt(x)  # type: ignore[attr-defined]  # noqa: SLF001
    return _square_root(x)


def _size_log2(x: Any) -> Any:  # noqa: ANN401
    """Return math.log2(x), of a size what knows its floor and its ceiling."""
    return LogOfSize(x) if isinstance(x, torch.SymInt) else _log2(x)


def bit_length(size: torch.SymInt) -> Any:  # noqa: ANN401
    """Return size.bit_length() of a size: it has a bit for each power of two that it reaches."""
    bits = (largest(size) or 2**_MOST_BITS).bit_length()
    return sum(torch.sym_min(1, size // 2**bit) for bit in range(bits))


_MOST_BITS = 40
"""Of a size without a bound."""


class LogOfSize(FunctionOfSize):
    """The logarithm of a size to base 2, whose whole part needs no bound of the size."""

    def __init__(self, size: torch.SymInt) -> None:
        super().__init__(size, lambda x: x.log2() if isinstance(x, torch.Tensor) else _log2(x))

    def __floor__(self) -> Any:  # noqa: ANN401
        return bit_length(self._size) - 1

    def __ceil__(self) -> Any:  # noqa: ANN401
        return bit_length(self._size - 1)

    def __trunc__(self) -> Any:  # noqa: ANN401
        return bit_length(self._size) - 1


_FUNCTIONS_OF_SIZES = [
    (_square_root, _size_square_root),
    (_log2, _size_log2),
    *(of_sizes(name) for name in ("log", "log10", "log1p")),
]


def _same(size: torch.SymInt) -> torch.SymInt:
    return size


def _as_type(size: torch.SymInt, dtype: Any) -> Any:  # noqa: ANN401
    plain = getattr(dtype, "plain", dtype)
    return size if np.dtype(plain).kind in "iu" else torch.sym_float(size)


_METHODS_OF_SIZES: dict[str, Callable[..., Any]] = {
    "__divmod__": lambda one, other: (one // other, one % other),
    "__rdivmod__": lambda one, other: (other // one, other % one),
    "bit_length": bit_length,
    # torch would record the rounding of an integer, which ONNX lacks.
    **dict.fromkeys(("__ceil__", "__floor__", "__trunc__"), _same),
    # What numpy asks its operands for, and what is asked of its results.
    "log2": _size_log2,
    "sqrt": _size_square_root,
    **{name: of_sizes(name)[1] for name in ("log", "log10", "log1p")},
    "item": _same,
    "astype": _as_type,
    **bits_of_sizes.METHODS,
}
_OF_NUMBERS = ("exp", "log", "sin", "cos", "tan", "tanh", "atan", "atan2", "hypot")
_OF_TRUTH = ("isnan", "isinf")


def _of_tensors(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a function of math, and one that takes tensors, too."""
    plain, of_tensors = getattr(math, name), getattr(torch, name)

    def compute(*args: Any) -> Any:  # noqa: ANN401
        if any(isinstance(one, torch.Tensor) for one in args):
            return of_tensors(*(torch.as_tensor(one, dtype=torch.float64) for one in args))
        return plain(*args)

    return plain, compute


_FUNCTIONS_OF_TENSORS = [
    (_square_root, _of_tensors("sqrt")[1]),
    *(_of_tensors(name) for name in (*_OF_NUMBERS, *_OF_TRUTH)),
]


@contextmanager
def sizes_stay_symbolic(modules: Sequence[ModuleType], *, tensors: bool = False) -> Iterator[None]:
    """Let the code of these modules compute with symbolic sizes, while the block runs.

    `tensors`: also with tensors where it asks for their numbers.
    """
    built_in = _BUILT_IN | ({"int": _TensorInt, "float": _TensorFloat} if tensors else {})
    functions = _FUNCTIONS_OF_TENSORS if tensors else _FUNCTIONS_OF_SIZES
    changed: list[tuple[Any, str, Any]] = []

    def set_name(owner: Any, name: str, value: object) -> None:  # noqa: ANN401
        changed.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, value)

    for name, method in _METHODS_OF_SIZES.items():
        set_name(torch.SymInt, name, method)

    for module in modules:
        for name in built_in.keys() - vars(module).keys():
            set_name(module, name, built_in[name])
    for module in (*modules, math):
        for plain, compute in functions:
            for name in [name for name, value in vars(module).items() if value is plain]:
                set_name(module, name, compute)
    try:
        yield
    finally:
        for owner, name, before in reversed(changed):
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
