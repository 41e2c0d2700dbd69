"""Integers of few values, followed through the calls that pass them on: `int(scores.argmax())`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from modelexport_exporter.torch_internals.call_mode import call_name

_PASS_ON = frozenset(
    {
        *("__getitem__", "select", "reshape", "view", "squeeze", "flatten", "to", "long", "int"),
        *("item", "clone", "amax", "amin", "contiguous"),
    }
)
"""Calls whose results are among the values of their first argument."""
_OF_TWO = frozenset({"max", "min"})
"""The same, unless they are given another tensor."""
_PLACES = frozenset({"argmax", "argmin"})


class BoundedIntegers:
    """Integer tensors and the ranges of their values."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Tensor, int, int]] = {}
        """By id; the tensor is kept, so that no other one gets its id."""

    def add(self, x: Tensor, low: int, high: int) -> None:
        """Note that x holds integers from low to high."""
        self._known[id(x)] = x, low, high

    def range_of(self, x: object) -> tuple[int, int] | None:
        """Return the smallest and the largest integer that x may hold."""
        found = self._known.get(id(x))
        return found[1:] if found else None

    def learn(self, func: Any, args: tuple[Any, ...], dim: object, result: object) -> None:  # noqa: ANN401
        """Note the range of a call's result, if it follows; `dim`: the call's, None without."""
        if not isinstance(result, Tensor) or not args or not isinstance(args[0], Tensor):
            return
        name, x = call_name(func), args[0]
        if name in _PLACES:
            axis = args[1] if len(args) > 1 else dim
            size = x.numel() if axis is None else x.shape[axis]  # type: ignore[index]
            if type(size) is int:
                self.add(result, 0, size - 1)
        elif (name in _PASS_ON or (name in _OF_TWO and len(args) == 1)) and (
            known := self.range_of(x)
        ):
            self.add(result, *known)
