"""Quotients of sizes that torch computes: `torch.div(n, 4, rounding_mode="floor")`.

Eager returns a tensor of no dims, which Python takes for a size. torch.export does not know what a
number is that it reads from a tensor, and refuses `x.view(torch.div(n, 4, …), 4)`. Here the
quotient stays a size, which also answers what such a tensor is asked for.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import SymInt, Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.decompositions.capture.registry import Replacements, Result, is_open

CALLS = Replacements()


class Quotient(SymInt):
    """A size in the place of a tensor of no dims and dtype int64."""

    def item(self) -> SymInt:
        """Return the size."""
        return SymInt(self.node)

    tolist = item

    def to(self, *arguments: Any, **named: Any) -> Tensor:  # noqa: ANN401
        """Return the tensor, converted."""
        return self._tensor().to(*arguments, **named)

    def long(self) -> Tensor:
        """Return the tensor."""
        return self._tensor()

    def int(self) -> Tensor:
        """Return the tensor in int32."""
        return self._tensor().int()

    def float(self) -> Tensor:
        """Return the tensor in float32."""
        return self._tensor().float()

    def _tensor(self) -> Tensor:
        return torch.scalar_tensor(SymInt(self.node), dtype=torch.int64)


@CALLS.replaces("div", torch.div, torch.divide)
def div(
    input: object,  # noqa: A002 - torch's own name
    other: object,
    *,
    rounding_mode: str | None = None,
    **_: object,
) -> Result:
    if rounding_mode not in {"floor", "trunc"} or not _are_sizes(input, other):
        return NotImplemented
    if rounding_mode == "trunc" and not _is_positive(input, other):
        return NotImplemented
    return _quotient(input, other)


@CALLS.replaces("floor_divide", torch.floor_divide)
def floor_divide(input: object, other: object, **_: object) -> Result:  # noqa: A002
    return _quotient(input, other) if _are_sizes(input, other) else NotImplemented


def _are_sizes(one: object, other: object) -> bool:
    """Return whether both are integers, of which one depends on a size."""
    integers = all(isinstance(each, int | SymInt) for each in (one, other))
    return integers and (is_open(one) or is_open(other))


def _is_positive(dividend: Any, divisor: Any) -> bool:  # noqa: ANN401
    """Return whether no number is negative: then truncating is rounding down."""
    return statically_known_true(dividend >= 0) and statically_known_true(divisor > 0)


def _quotient(dividend: Any, divisor: Any) -> SymInt:  # noqa: ANN401
    found = dividend // divisor
    return Quotient(found.node) if isinstance(found, SymInt) else found
