"""Symbolic functions of sums of lists.

torch adds the elements of lists of numbers (`list(x.shape[:-1]) + [1]` adds 1 to each size), and
knows of lists of tensors only how to add some to the end of one that a loop made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from modelexport_exporter.torch_internals.symbolics import (
    add_values,
    is_list,
    is_list_of_numbers,
    unpack_list,
)

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""

SINCE = 11


def _add(g: Value, x: Value, y: Value, alpha: Value | None = None) -> Value:
    operands = [*g.original_node.inputs()][:2]
    if any(map(is_list_of_numbers, operands)):
        parts = [part for value in (x, y) for part in _as_rows(g, value)]
        return g.op("Concat", *parts, axis_i=0) if parts else x
    if is_list(x) and not is_list(y) and y.type().kind() == "ListType":
        for place, element in enumerate(unpack_list(x)):
            y = g.op("SequenceInsert", y, element, g.op("Constant", value_t=_number(place)))
        return y
    return add_values(g, x, y, alpha)


def _number(value: int, rank: int = 0) -> torch.Tensor:
    return torch.full([1] * rank, value, dtype=torch.int64)


def _as_rows(g: Value, value: Value) -> list[Value]:
    """Return vectors: a list that the program writes has each of its numbers as one."""
    if not is_list(value):
        return [value]
    first = g.op("Constant", value_t=_number(0, rank=1))
    return [g.op("Unsqueeze", element, first) for element in unpack_list(value)]


LISTS: dict[str, Callable[..., Any]] = {"aten::add": _add}
