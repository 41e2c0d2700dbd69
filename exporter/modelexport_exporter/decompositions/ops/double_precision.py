"""Functions of float64 of which onnxruntime has only single-precision kernels.

torch.onnx writes Python numbers in float32: by its torch.export route, results are off by 1e-7.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops import cephes
from modelexport_exporter.decompositions.ops.activations import elu
from modelexport_exporter.decompositions.ops.arithmetic import polynomial
from modelexport_exporter.decompositions.ops.error_functions import erfc, special_erfcx
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Double precision", __doc__)

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def of_channels(values: Tensor, dims: int) -> Tensor:
    """Return a number for each channel in the shape that broadcasts over a batch of `dims` dims."""
    return values.reshape(-1, *[1] * (dims - 2))


def scaled(result: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Return result · weight + bias, of what is given."""
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def scaled_channels(result: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Return result · weight + bias, which have a number for each channel."""
    parts = (None if part is None else of_channels(part, result.dim()) for part in (weight, bias))
    return scaled(result, *parts)


def is_double(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype == torch.float64


@FAMILY.decomposes(
    "aten::erf",
    defect="onnxruntime has no Erf of float64",
    report="https://github.com/microsoft/onnxruntime/issues/26736",
    method="Cephes erf: rational below 1, 1 - exp(-x²) erfcx(|x|) above",
    accuracy="1e-14 (float64)",
    applies=is_double,
)
def erf(x: Tensor) -> Tensor:
    size = x.abs()
    inner = torch.where(size > 1, torch.ones_like(x), x)
    square = inner * inner
    low = inner * polynomial(square, cephes.ERF_T) / polynomial(square, cephes.ERF_U)
    outer = torch.minimum(size, torch.full_like(x, 30.0))
    tail = 1 - torch.exp(-outer * outer) * special_erfcx(outer)
    return torch.where(size > 1, torch.where(x < 0, -tail, tail), low)


@FAMILY.decomposes(
    "aten::gelu",
    defect="onnxruntime has no Erf of float64",
    report="https://github.com/microsoft/onnxruntime/issues/26736",
    method="x/2 · erfc(-x/√2), or with tanh",
    applies=is_double,
)
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * erfc(-x * math.sqrt(0.5))


_USUAL_THRESHOLD = 20
"""Where softplus(x) = x in float32: the TorchScript route knows no other."""


@FAMILY.decomposes(
    "aten::softplus",
    defect="no Softplus of float64, threshold ignored (TorchScript route)",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="max(x, 0) + log1p(exp(-|x|)) of beta · x, x above the threshold",
    applies=lambda x, beta=1, threshold=20: is_double(x) or threshold != _USUAL_THRESHOLD,
)
def softplus(x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    scaled = x * beta
    soft = torch.clamp(scaled, min=0.0) + torch.log1p(torch.exp(-scaled.abs()))
    return torch.where(scaled > threshold, x, soft / beta)


@FAMILY.decomposes(
    "aten::mish",
    defect="onnxruntime has no Softplus of float64 (TorchScript route)",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="x · tanh(softplus(x))",
    applies=is_double,
)
def mish(x: Tensor) -> Tensor:
    return x * torch.tanh(softplus(x))


@FAMILY.decomposes(
    "aten::selu",
    defect="onnxruntime has no Selu of float64 (TorchScript route)",
    method="a scaled elu",
    applies=is_double,
)
def selu(x: Tensor) -> Tensor:
    return elu(x, _SELU_ALPHA, _SELU_SCALE)


@FAMILY.decomposes(
    "aten::celu",
    defect="onnxruntime has no Celu of float64",
    method="an elu of x / alpha",
    applies=is_double,
)
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return torch.where(x > 0, x, alpha * torch.expm1(x / alpha))


@FAMILY.decomposes(
    "aten::leaky_relu",
    defect="the slope is rounded to float32 (TorchScript route)",
    method="x, or slope · x below 0",
    applies=is_double,
)
def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    return torch.where(x > 0, x, x * negative_slope)


@FAMILY.decomposes(
    "aten::hardsigmoid",
    defect="onnxruntime has no HardSigmoid of float64 (TorchScript route)",
    method="clamp(x + 3, 0, 6) / 6",
    applies=is_double,
)
def hardsigmoid(x: Tensor) -> Tensor:
    return torch.clamp(x + 3, 0, 6) / 6


@FAMILY.decomposes(
    "aten::hardswish",
    defect="onnxruntime has no HardSigmoid of float64 (TorchScript route)",
    method="x · hardsigmoid(x)",
    applies=is_double,
)
def hardswish(x: Tensor) -> Tensor:
    return x * torch.clamp(x + 3, 0, 6) / 6


@FAMILY.decomposes(
    "aten::tan",
    defect="onnxruntime has no Tan of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="sin / cos",
    applies=is_double,
)
def tan(x: Tensor) -> Tensor:
    return torch.sin(x) / torch.cos(x)


@FAMILY.decomposes(
    "aten::atan",
    defect="onnxruntime has no Atan of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="Cephes atan: rational below 0.66, reduced to there by tan(π/4) and tan(π/2)",
    accuracy="1e-15 (float64)",
    applies=is_double,
)
def atan(x: Tensor) -> Tensor:
    size = x.abs()
    far, middle = size > 1 + math.sqrt(2), size > 0.66
    one = torch.ones_like(size)
    inner = torch.where(middle, (size - 1) / (size + 1), size)
    inner = torch.where(far, -1 / torch.where(far, size, one), inner)
    square = inner * inner
    value = inner + inner * square * polynomial(square, cephes.ATAN_P) / polynomial(
        square, cephes.ATAN_Q
    )
    start = torch.where(far, math.pi / 2 * one, torch.where(middle, math.pi / 4, 0.0 * one))
    return torch.where(x < 0, -(start + value), start + value)


@FAMILY.decomposes(
    "aten::asin",
    defect="onnxruntime has no Asin of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="2 atan(x / (1 + sqrt(1 - x²)))",
    applies=is_double,
)
def asin(x: Tensor) -> Tensor:
    return 2 * atan(x / (1 + torch.sqrt((1 - x) * (1 + x))))


@FAMILY.decomposes(
    "aten::acos",
    defect="onnxruntime has no Acos of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="2 atan(sqrt((1 - x) / (1 + x)))",
    applies=is_double,
)
def acos(x: Tensor) -> Tensor:
    return 2 * atan(torch.sqrt((1 - x) / (1 + x)))


@FAMILY.decomposes(
    "aten::sinh",
    defect="onnxruntime has no Sinh of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="(eˣ - e⁻ˣ) / 2",
    applies=is_double,
)
def sinh(x: Tensor) -> Tensor:
    half = torch.exp(x.abs() / 2)
    value = half / 2 * half - 1 / half / (2 * half)
    return torch.where(x < 0, -value, value)


@FAMILY.decomposes(
    "aten::cosh",
    defect="onnxruntime has no Cosh of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="(eˣ + e⁻ˣ) / 2",
    applies=is_double,
)
def cosh(x: Tensor) -> Tensor:
    half = torch.exp(x.abs() / 2)
    return half / 2 * half + 1 / half / (2 * half)


@FAMILY.decomposes(
    "aten::asinh",
    defect="onnxruntime has no Asinh of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="log(|x| + sqrt(x² + 1))",
    applies=is_double,
)
def asinh(x: Tensor) -> Tensor:
    size = x.abs()
    large = size > 1e9
    inner = torch.where(large, torch.ones_like(size), size)
    value = torch.where(
        large, torch.log(size) + math.log(2), torch.log(inner + torch.sqrt(inner * inner + 1))
    )
    return torch.where(x < 0, -value, value)


@FAMILY.decomposes(
    "aten::acosh",
    defect="onnxruntime has no Acosh of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="log(x + sqrt(x² - 1))",
    applies=is_double,
)
def acosh(x: Tensor) -> Tensor:
    inner = torch.where(x > 1e9, torch.ones_like(x), x)
    value = torch.log(inner + torch.sqrt(inner - 1) * torch.sqrt(inner + 1))
    return torch.where(x > 1e9, torch.log(x) + math.log(2), value)


@FAMILY.decomposes(
    "aten::atanh",
    defect="onnxruntime has no Atanh of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="log((1 + x) / (1 - x)) / 2",
    applies=is_double,
)
def atanh(x: Tensor) -> Tensor:
    return torch.log((1 + x) / (1 - x)) / 2


@FAMILY.decomposes(
    "aten::prelu",
    "aten::_prelu_kernel",
    defect="onnxruntime has no PRelu of float64",
    method="x, or the channel's slope · x below 0",
    applies=is_double,
)
def prelu(x: Tensor, weight: Tensor) -> Tensor:
    if weight.dim() == 1 and x.dim() > 1:
        weight = of_channels(weight, x.dim())
    return torch.where(x > 0, x, x * weight)
