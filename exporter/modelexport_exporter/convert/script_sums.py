"""Running sums of booleans and small integers in scripts, which torch returns as int64.

torch's TorchScript exporter takes the sum for booleans, too, and a product with it for a logical
and.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from modelexport_exporter.torch_internals.symbolics import (
    JitScalarType,
    cast_to,
    is_none,
    parse_argument,
)

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""

SINCE = 11
"""CumSum."""
_SUMMED_AS_INT64 = frozenset(
    {JitScalarType.BOOL, JitScalarType.UINT8, JitScalarType.INT8}
    | {JitScalarType.INT16, JitScalarType.INT}
)


def _cumsum(g: Value, x: Value, dim: Value, dtype: Value | None = None) -> Value:
    if dtype is not None and not is_none(dtype):
        x = cast_to(g, x, JitScalarType(parse_argument(dtype, "i")))
    elif JitScalarType.from_value(x, JitScalarType.UNDEFINED) in _SUMMED_AS_INT64:
        x = cast_to(g, x, JitScalarType.INT64)
    axis = g.op("Constant", value_t=torch.tensor(parse_argument(dim, "i"), dtype=torch.int32))
    return g.op("CumSum", x, axis)


SUMS: Mapping[str, Callable[..., Value]] = {"aten::cumsum": _cumsum}
