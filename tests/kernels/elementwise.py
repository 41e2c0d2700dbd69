"""Operators that compute each element for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from onnx import TensorProto

from kernels.kernel import Kernel
from kernels.layouts import binary, no_zero, unary, with_mask
from kernels.values import FLOATS, INTEGERS, tensor


def _function(operator: str, eager: Callable[..., Any], **options: Any) -> Kernel:  # noqa: ANN401
    return Kernel(operator, eager, unary, elementwise=True, **options)


def _pair(operator: str, eager: Callable[..., Any], **options: Any) -> Kernel:  # noqa: ANN401
    return Kernel(operator, eager, options.pop("layout", binary), elementwise=True, **options)


_UNARY = (
    _function("Abs", torch.abs),
    _function("Neg", torch.neg),
    _function("Sign", torch.sign),
    _function("Acos", torch.acos, dtypes=FLOATS),
    _function("Acosh", torch.acosh, dtypes=FLOATS),
    _function("Asin", torch.asin, dtypes=FLOATS),
    _function("Asinh", torch.asinh, dtypes=FLOATS),
    _function("Atan", torch.atan, dtypes=FLOATS),
    _function("Atanh", torch.atanh, dtypes=FLOATS),
    _function("Ceil", torch.ceil, dtypes=FLOATS),
    _function("Floor", torch.floor, dtypes=FLOATS),
    _function("Round", torch.round, dtypes=FLOATS),
    _function("Cos", torch.cos, dtypes=FLOATS),
    _function("Cosh", torch.cosh, dtypes=FLOATS),
    _function("Sin", torch.sin, dtypes=FLOATS),
    _function("Sinh", torch.sinh, dtypes=FLOATS),
    _function("Tan", torch.tan, dtypes=FLOATS),
    _function("Tanh", torch.tanh, dtypes=FLOATS),
    _function("Erf", torch.erf, dtypes=FLOATS),
    _function("Exp", torch.exp, dtypes=FLOATS),
    _function("Log", torch.log, dtypes=FLOATS),
    _function("Sqrt", torch.sqrt, dtypes=FLOATS),
    _function("Reciprocal", torch.reciprocal, dtypes=FLOATS),
    _function("IsNaN", torch.isnan, dtypes=FLOATS),
    _function("IsInf", torch.isinf, dtypes=FLOATS),
    _function("Not", torch.logical_not, dtypes=(torch.bool,)),
    _function("BitwiseNot", torch.bitwise_not, dtypes=INTEGERS),
    _function("Identity", torch.clone),
    _function("Dropout", torch.clone, dtypes=FLOATS),
    _function("Sum", torch.clone, dtypes=FLOATS, variant="of one"),
    _function("Sigmoid", torch.sigmoid, dtypes=FLOATS),
    _function("Relu", torch.relu),
    _function("LeakyRelu", F.leaky_relu, dtypes=FLOATS),
    _function("LeakyRelu", lambda x: F.leaky_relu(x, 2.0), attributes={"alpha": 2.0},
              dtypes=FLOATS, variant="slope 2"),
    _function("Elu", F.elu, dtypes=FLOATS),
    _function("Celu", F.celu, dtypes=FLOATS),
    _function("Selu", F.selu, dtypes=FLOATS),
    _function("Softplus", F.softplus, dtypes=FLOATS),
    _function("Mish", F.mish, dtypes=FLOATS),
    _function("HardSwish", F.hardswish, dtypes=FLOATS),
    _function("HardSigmoid", F.hardsigmoid, attributes={"alpha": 1 / 6}, dtypes=FLOATS),
    _function("Gelu", F.gelu, dtypes=FLOATS),
    _function("Gelu", lambda x: F.gelu(x, approximate="tanh"),
              attributes={"approximate": "tanh"}, dtypes=FLOATS, variant="tanh"),
)  # fmt: skip


def _int(numbers: list[float]) -> Callable[[torch.dtype], Any]:
    """Return what makes a scalar of the dtype."""
    return lambda dtype: tensor(numbers, dtype).reshape(()).numpy()


_NUMPY = tuple(dtype for dtype in (*FLOATS, *INTEGERS) if dtype is not torch.bfloat16)


def _clip(low: float | None, high: float | None, variant: str) -> Kernel:
    bounds = [(1, low), (2, high)]
    constants = {place: _int([bound]) for place, bound in bounds if bound is not None}
    return _function(
        "Clip", lambda x: torch.clamp(x, low, high), constants=constants, dtypes=_NUMPY,
        variant=variant,
    )  # fmt: skip


_CLIPS = (_clip(0, 5, "both bounds"), _clip(1, None, "lower bound"))

_BINARY = (
    _pair("Add", torch.add),
    _pair("Sub", torch.sub),
    _pair("Mul", torch.mul),
    _pair("Div", torch.div, dtypes=FLOATS),
    _pair("Div", lambda x, y: torch.div(x, y, rounding_mode="trunc"), dtypes=INTEGERS,
          layout=no_zero(binary), variant="integers"),
    _pair("Mod", torch.remainder, dtypes=INTEGERS, layout=no_zero(binary)),
    _pair("Mod", torch.fmod, attributes={"fmod": 1}, layout=no_zero(binary), variant="fmod",
          dtypes=(*FLOATS, *INTEGERS)),
    _pair("Pow", torch.pow),
    _pair("Max", torch.maximum),
    _pair("Min", torch.minimum),
    _pair("Equal", torch.eq),
    _pair("Less", torch.lt),
    _pair("LessOrEqual", torch.le),
    _pair("Greater", torch.gt),
    _pair("GreaterOrEqual", torch.ge),
    _pair("And", torch.logical_and, dtypes=(torch.bool,)),
    _pair("Or", torch.logical_or, dtypes=(torch.bool,)),
    _pair("Xor", torch.logical_xor, dtypes=(torch.bool,)),
    _pair("BitwiseAnd", torch.bitwise_and, dtypes=INTEGERS),
    _pair("BitwiseOr", torch.bitwise_or, dtypes=INTEGERS),
    _pair("BitwiseXor", torch.bitwise_xor, dtypes=INTEGERS),
    _pair("BitShift", lambda x, y: torch.bitwise_left_shift(x, y % 8), dtypes=(torch.uint8,),
          attributes={"direction": "LEFT"}, layout=no_zero(binary)),
)  # fmt: skip
_POWERS = tuple(
    _function(
        "Pow", lambda x, number=number: torch.pow(x, number), variant=f"exponent {number}",
        constants={1: _int([number])}, dtypes=_NUMPY,
    )
    for number in (0, 1, 2, 3, 5)
) + tuple(
    _function(
        "Pow", lambda x, number=number: torch.pow(x, number), variant=f"exponent {number}",
        constants={1: _int([number])}, dtypes=(torch.float16, torch.float32, torch.float64),
    )
    for number in (0.5, -1, -2, 1.5)
)  # fmt: skip
_PRELU = _function(
    "PRelu", lambda x: F.prelu(x, torch.full((1,), 0.25, dtype=x.dtype)), dtypes=_NUMPY[:3],
    constants={1: lambda dtype: torch.full((1,), 0.25, dtype=dtype).numpy()},
)  # fmt: skip
_WHERE = Kernel("Where", torch.where, with_mask, elementwise=True)
_TARGETS = (torch.float32, torch.float64, torch.float16, *INTEGERS, torch.bool)
_ELEMENT = {
    torch.float32: TensorProto.FLOAT,
    torch.float64: TensorProto.DOUBLE,
    torch.float16: TensorProto.FLOAT16,
    torch.int64: TensorProto.INT64,
    torch.int32: TensorProto.INT32,
    torch.int16: TensorProto.INT16,
    torch.int8: TensorProto.INT8,
    torch.uint8: TensorProto.UINT8,
    torch.bool: TensorProto.BOOL,
}
_CASTS = tuple(
    _function(
        "Cast", lambda x, to=to: x.to(to), attributes={"to": _ELEMENT[to]},
        variant=f"to {str(to).removeprefix('torch.')}",
    )
    for to in _TARGETS
)  # fmt: skip
KERNELS = (*_UNARY, *_CLIPS, *_BINARY, *_POWERS, _PRELU, _WHERE, *_CASTS)
