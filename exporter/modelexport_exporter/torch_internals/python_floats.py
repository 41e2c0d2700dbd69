"""Python floats in torch.onnx's translations keep their double precision.

Where a translation calls `CastLike(0.1, x)`, torch.onnx makes a float32 constant and casts that:
off by 1e-8 in a float64 graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import onnx_ir as ir
from torch.onnx._internal.exporter import _building


@contextmanager
def python_floats_are_double() -> Iterator[None]:
    """Let the constants that are cast be double, while the block runs."""
    plain = _building._determine_input_dtype  # noqa: SLF001

    def determine(param: Any, arg: Any, bound: Any) -> Any:  # noqa: ANN401
        dtype = plain(param, arg, bound)
        is_cast = param.name == "input" and param.type_constraint.name == "T1"
        unbound = param.type_constraint not in bound
        if is_cast and unbound and dtype is ir.DataType.FLOAT and isinstance(arg, float):
            return ir.DataType.DOUBLE
        return dtype

    with patch.object(_building, "_determine_input_dtype", determine):
        yield
