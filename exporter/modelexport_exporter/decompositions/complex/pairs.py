"""Complex tensors as pairs of real and imaginary parts, and the operators that have such a form.

torch.onnx holds a complex tensor as a real one with a last dim of two, and translates few operators
of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])
Number = complex | float


@dataclass(frozen=True)
class Form:
    """An ATen operator of complex tensors, computed with real ones."""

    function: Callable[..., Any]
    """For at least one complex argument or result."""
    applies: Callable[..., bool]
    """Called with the operator's arguments: whether torch.onnx needs it for these."""


class Forms(dict[str, Form]):
    """By the operator's name, with its overload."""

    def form_of(
        self, *names: str, applies: Callable[..., bool] = lambda *_, **__: True
    ) -> Callable[[Function], Function]:
        """Register the function as the form of these operators."""

        def register(function: Function) -> Function:
            self.update(dict.fromkeys(names, Form(function, applies)))
            return function

        return register


def parts(x: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Return [..., 2], of a real tensor too, in the precision of `dtype`."""
    pairs = torch.view_as_real(x) if x.is_complex() else torch.stack([x, torch.zeros_like(x)], -1)
    return pairs if dtype is None else pairs.to(dtype.to_real())


def whole(pairs: Tensor) -> Tensor:
    """Return the complex tensor of [..., 2]."""
    return torch.view_as_complex(pairs.contiguous())


def halves(x: Tensor, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor]:
    """Return the real and the imaginary part."""
    real, imaginary = parts(x, dtype).unbind(-1)
    return real, imaginary


def join(real: Tensor, imaginary: Tensor) -> Tensor:
    """Return the complex tensor of these parts."""
    return whole(torch.stack([real, imaginary], -1))


def parts_of(value: Number) -> tuple[float, float]:
    """Return the real and the imaginary part of a number; one made of sizes stays symbolic."""
    return (value.real, value.imag) if isinstance(value, complex) else (value, 0.0)


def join_parts_of(value: Number, part: Callable[[float], Tensor]) -> Tensor:
    """Return the complex tensor of a number; `part` makes the tensor of each part."""
    real, imaginary = parts_of(value)
    return join(part(real), part(imaginary))


def constant(value: Number, like: Tensor) -> Tensor:
    """Return the number as a tensor without dims."""
    options: Any = {"dtype": like.dtype.to_real(), "device": like.device}
    return join_parts_of(value, lambda number: torch.full((), number, **options))
