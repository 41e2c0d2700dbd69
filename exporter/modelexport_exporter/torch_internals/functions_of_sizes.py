"""Logarithms of sizes, and what Python computes with them, while a model is captured.

`int(c * math.log(n))` is a count that many models take from a length, and torch.export holds no
logarithm of a size: it takes the example's. Where the size has a bound, the whole part is a
sum of steps, one at each size where it changes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch

from modelexport_exporter.torch_internals.symbolic_sizes import bounds_of

_LARGEST = 2**30
"""Of a size without a bound."""
_NEAR = 4096
"""From here on, a number between two equal ones is equal to them."""
_MOST = 64
"""Steps in a graph."""


class FunctionOfSize:
    """A number that Python computes from a size, of which torch.export holds whole parts only."""

    def __init__(self, size: torch.SymInt, compute: Callable[[Any], Any]) -> None:
        """`compute`: from the size, an int or a float64 tensor [], to the number."""
        self._size = size
        self._compute = compute

    def __floor__(self) -> Any:  # noqa: ANN401
        return self._steps(math.floor)

    def __ceil__(self) -> Any:  # noqa: ANN401
        return self._steps(math.ceil)

    def __trunc__(self) -> Any:  # noqa: ANN401
        return self._steps(math.trunc)

    def __round__(self, digits: int | None = None) -> Any:  # noqa: ANN401
        return self._steps(round) if digits is None else round(float(self), digits)

    def __float__(self) -> float:
        """Return the number at the example's size, which becomes that of all."""
        return float(self._compute(int(self._size)))

    def _steps(self, whole: Callable[[float], Any]) -> Any:  # noqa: ANN401
        """Return a whole part as a symbolic integer; that of the example if it is no short sum."""
        low, high = bounds_of(self._size)
        first, last = max(low, 1), min(high or _LARGEST, _LARGEST)
        changes = islice(_changes(lambda size: whole(self._compute(size)), first, last), _MOST + 1)
        steps = list(changes)
        if len(steps) > _MOST:
            return whole(float(self))
        # size // 7 is 0 below 7.
        reached = (rise * torch.sym_min(1, self._size // size) for size, rise in steps)
        return whole(self._compute(first)) + sum(reached)

    def combined(self, other: Any, of_both: Callable[[Any, Any], Any]) -> Any:  # noqa: ANN401
        """Return an operator's result, symbolic where the other is a number or the same size."""
        if isinstance(other, torch.Tensor):
            return of_both(self._tensor(other.dtype), other)
        compute = self._compute
        if isinstance(other, int | float):
            return FunctionOfSize(self._size, lambda size: of_both(compute(size), other))
        if isinstance(other, torch.SymInt) and other.node.expr == self._size.node.expr:
            return FunctionOfSize(self._size, lambda size: of_both(compute(size), size))
        if isinstance(other, torch.SymInt | torch.SymFloat):
            return of_both(float(self), other)
        return NotImplemented

    def _tensor(self, other: torch.dtype) -> torch.Tensor:
        """Return the number as a tensor []; `other`: the dtype of the other operand."""
        size = torch.scalar_tensor(self._size, dtype=torch.float64)
        number: torch.Tensor = self._compute(size)
        return number.to(other if other.is_floating_point else torch.get_default_dtype())

    def compared(self, other: Any, compare: Callable[[Any, Any], bool]) -> Any:  # noqa: ANN401
        """Return whether a comparison holds: a condition on the size."""
        if not isinstance(other, int | float):
            return compare(float(self), other)
        truth = FunctionOfSize(self._size, lambda size: int(compare(self._compute(size), other)))
        return math.trunc(truth) == 1

    def __neg__(self) -> Any:  # noqa: ANN401
        return self.combined(-1, operator.mul)


def _changes(compute: Callable[[int], int], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the sizes up to `high` at which a number is another than one before, and the rise."""
    begin, end = compute(low), compute(high)
    if low == high or (begin == end and low >= _NEAR):
        return
    if high - low == 1:
        if begin != end:
            yield high, end - begin
        return
    middle = _NEAR if low < _NEAR < high else (low + high) // 2
    yield from _changes(compute, low, middle)
    yield from _changes(compute, middle, high)


def _arithmetic(of_both: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda own, other: own.combined(other, of_both)


def _exchanged(of_both: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda own, other: own.combined(other, lambda one, two: of_both(two, one))


def _comparison(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    return lambda own, other: own.compared(other, compare)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "pow"):
    setattr(FunctionOfSize, f"__{_name}__", _arithmetic(getattr(operator, _name)))
    setattr(FunctionOfSize, f"__r{_name}__", _exchanged(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge"):
    setattr(FunctionOfSize, f"__{_name}__", _comparison(getattr(operator, _name)))


def of_sizes(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a function of math, and one that takes sizes, too."""
    plain, of_tensors = getattr(math, name), getattr(torch, name)

    def compute(x: Any, *base: Any) -> Any:  # noqa: ANN401
        if not isinstance(x, torch.SymInt):
            return plain(x, *base)
        if base:
            return compute(x) / plain(*base)
        return FunctionOfSize(
            x, lambda size: of_tensors(size) if isinstance(size, torch.Tensor) else plain(size)
        )

    return plain, compute
