"""`aten::sort` and `aten::argsort` with `stable`, which torch's symbolic functions read as `out`.

TopK of onnxruntime ranks equal values by their places, so that its order is always the stable one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from modelexport_exporter.torch_internals.symbolics import parse_argument

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""

SINCE = 11
"""TopK in ascending order."""


def _sort(g: Value, x: Value, *arguments: Value) -> tuple[Value, Value]:
    """sort(x, dim, descending) and sort.stable(x, stable, dim, descending)."""
    dim, descending = (parse_argument(argument, "i") for argument in arguments[-2:])
    size = g.op("Gather", g.op("Shape", x), g.op("Constant", value_t=torch.tensor([dim])))
    values, indices = g.op("TopK", x, size, axis_i=dim, largest_i=descending, outputs=2)
    return values, indices


def _argsort(g: Value, x: Value, *arguments: Value) -> Value:
    return _sort(g, x, *arguments)[1]


SORTS: dict[str, Callable[..., Any]] = {"aten::sort": _sort, "aten::argsort": _argsort}
