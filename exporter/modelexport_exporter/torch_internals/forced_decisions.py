"""Decisions of Python by the values of tensors: forced, and recorded, while a model is captured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.call_mode import CallMode


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

    def begin(self) -> None:
        """Forget what an earlier run of forward decided."""
        self.taken.clear()
        self.conditions.clear()

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the function returns, numbers as tensors."""
        if func in _NUMBERS:
            found = _NUMBERS[func](*args, **kwargs)
            return func(*args, **kwargs) if found is NotImplemented else found
        if func not in _CONDITIONS:
            return func(*args, **kwargs)
        condition = _CONDITIONS[func](*args, **kwargs)
        return self._decide(condition) if isinstance(condition, Tensor) else condition

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


def _listed(x: Tensor) -> Any:  # noqa: ANN401
    if x.dim() > 1:
        return NotImplemented
    return [as_number(part) for part in x] if x.dim() else as_number(x)


def _made(data: Any, dtype: torch.dtype | None = None, **_: object) -> Any:  # noqa: ANN401
    """Return torch.tensor(data) of numbers that are tensors."""
    parts = data if isinstance(data, list | tuple) else [data]
    if not any(isinstance(part, Tensor) for part in parts):
        return NotImplemented
    stacked = torch.stack([torch.as_tensor(part).reshape(()) for part in parts])
    stacked = stacked if isinstance(data, list | tuple) else stacked.reshape(data.shape)
    if dtype is None and stacked.dtype is torch.float64:
        dtype = torch.get_default_dtype()
    return stacked if dtype is None else stacked.to(dtype)


_NUMBERS: dict[Any, Callable[..., Any]] = {
    Tensor.item: as_number,
    Tensor.tolist: _listed,
    torch.tensor: _made,
}
"""What takes numbers from tensors, or makes a tensor of them."""
