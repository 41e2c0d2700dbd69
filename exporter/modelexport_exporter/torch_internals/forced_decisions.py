"""Decisions of Python by the values of tensors: forced, and recorded, while a model is captured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.bounded_integers import BoundedIntegers
from modelexport_exporter.torch_internals.call_mode import CallMode, call_name

MOST_VALUES = 16
"""Of an integer of which forward needs the number itself."""


def as_number(x: Tensor) -> Tensor:
    """Return what `item()` would return as a tensor [], which computes in double as Python does."""
    number = x.reshape(())
    return number.to(torch.float64) if number.is_floating_point() else number


class ForcedDecisions(CallMode):
    """While active, `if tensor` takes the sides that are given, then those of true conditions."""

    def __init__(self, sides: Sequence[bool], on_decision: Callable[[], None]) -> None:
        """Force these sides. `on_decision` is called where forward decides."""
        super().__init__()
        self._sides = tuple(sides)
        self._on_decision = on_decision
        self.taken: list[bool] = []
        self.conditions: list[Tensor] = []
        """bool [], one for each side that was taken."""
        self._integers: dict[int, Tensor] = {}
        """Integers of Python, which are tensors here, by their ids."""
        self.bounded = BoundedIntegers()
        """Integers of which forward may need the number itself: an index, the end of a range."""

    def begin(self) -> None:
        """Forget what an earlier run of forward decided."""
        self.taken.clear()
        self.conditions.clear()
        self._integers.clear()
        self.bounded = BoundedIntegers()

    def choose(self, x: Tensor, low: int, high: int) -> int:
        """Return an integer of a range, by a decision for each but the last: whether x is it."""
        for number in range(low, high):
            if self._decide(x == number):
                return number
        return high

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the function returns, numbers as tensors."""
        known = self.bounded.range_of(args[0]) if func is Tensor.__index__ else None
        if known is not None and known[1] - known[0] < MOST_VALUES:
            number = self.choose(args[0], *known)
            self.bounded.add(args[0], number, number)
            return number
        result = self._result(func, args, kwargs)
        self.bounded.learn(func, args, kwargs.get("dim"), result)
        return result

    def _result(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if func in _NUMBERS:
            found = _NUMBERS[func](*args, **kwargs)
            if func is not torch.tensor:
                self._remember(found)
            return func(*args, **kwargs) if found is NotImplemented else found
        if func not in _CONDITIONS:
            if not kwargs and any(id(argument) in self._integers for argument in args):
                return self._compute(func, args)
            return func(*args, **kwargs)
        condition = _CONDITIONS[func](*args, **kwargs)
        return self._decide(condition) if isinstance(condition, Tensor) else condition

    def _remember(self, found: Any) -> None:  # noqa: ANN401
        for number in found if isinstance(found, list) else [found]:
            if isinstance(number, Tensor) and not number.is_floating_point():
                self._integers[id(number)] = number

    def _compute(self, func: Any, args: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Compute with integers of Python: in double where a float meets them, as Python does."""
        name = call_name(func)
        if name in _WITH_INTEGERS and (name in _DIVISIONS or any(map(_is_python_float, args))):
            return func(*(x.double() if id(x) in self._integers else x for x in args))
        result = func(*args)
        if name in _WITH_INTEGERS and all(not isinstance(x, Tensor) or not x.dim() for x in args):
            self._remember(result)
        return result

    def _decide(self, value: Tensor) -> bool:
        condition = value.reshape(())
        condition = condition if condition.dtype is torch.bool else condition != 0
        place = len(self.taken)
        self._on_decision()
        self.taken.append(self._sides[place] if place < len(self._sides) else True)
        self.conditions.append(condition)
        return self.taken[-1]


def _equal(one: Tensor, other: Tensor) -> Tensor | bool:
    return one.shape == other.shape and (one == other).all()


_CONDITIONS: dict[Any, Callable[..., Tensor | bool]] = {
    **dict.fromkeys((Tensor.__bool__, torch.is_nonzero), lambda x: x),
    **dict.fromkeys((torch.equal, Tensor.equal), _equal),
    **dict.fromkeys(
        (torch.allclose, Tensor.allclose), lambda *args, **how: torch.isclose(*args, **how).all()
    ),
    Tensor.__contains__: lambda x, element: (x == element).any(),
}
"""What Python decides by, for each function that returns a bool."""


_DIVISIONS = frozenset({"div", "true_divide", "__rdiv__", "__rtruediv__"})
_WITH_INTEGERS = _DIVISIONS | {
    *("add", "sub", "mul", "neg", "abs", "__rsub__", "remainder", "__floordiv__", "floor_divide"),
    *("lt", "le", "gt", "ge", "__eq__", "__ne__", "eq", "ne", "pow", "__rpow__"),
}
"""Calls by which Python computes and compares numbers."""


def _is_python_float(value: object) -> bool:
    """Return whether a number is a float of Python: itself, or a tensor that stands for one."""
    if isinstance(value, Tensor):
        return value.dtype is torch.float64 and not value.dim()
    return isinstance(value, float)


def _listed(x: Tensor) -> Any:  # noqa: ANN401
    if x.dim() > 1:
        return NotImplemented
    return [as_number(part) for part in x] if x.dim() else as_number(x)


def _made(data: Any, dtype: torch.dtype | None = None, **_: object) -> Any:  # noqa: ANN401
    """Return torch.tensor(data) of numbers that are tensors."""
    parts = list(_numbers_in(data))
    if not any(isinstance(part, Tensor) for part in parts):
        return NotImplemented
    tensors = [torch.as_tensor(part).reshape(()) for part in parts]
    if any(tensor.is_floating_point() for tensor in tensors):
        tensors = [tensor.to(torch.float64) for tensor in tensors]
    stacked = torch.stack(tensors)
    stacked = stacked.reshape(_shape_of(data))
    if dtype is None and stacked.dtype is torch.float64:
        dtype = torch.get_default_dtype()
    return stacked if dtype is None else stacked.to(dtype)


def _numbers_in(data: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the numbers of lists in each other, row by row."""
    if isinstance(data, list | tuple):
        for part in data:
            yield from _numbers_in(part)
    else:
        yield data


def _shape_of(data: Any) -> tuple[int, ...]:  # noqa: ANN401
    if isinstance(data, list | tuple):
        return (len(data), *(_shape_of(data[0]) if data else ()))
    return tuple(data.shape) if isinstance(data, Tensor) else ()


_NUMBERS: dict[Any, Callable[..., Any]] = {
    Tensor.item: as_number,
    Tensor.tolist: _listed,
    torch.tensor: _made,
}
"""What takes numbers from tensors, or makes a tensor of them."""
