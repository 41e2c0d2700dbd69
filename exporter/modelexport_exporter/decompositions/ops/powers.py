"""Powers of integers: ONNX's Pow has the type of its base, torch's that of both operands."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Powers", __doc__)

Number = int | float | bool
_WITH_KERNEL = (torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
_METHOD = "the operands converted to torch's result type first"


def _computed_in(dtype: torch.dtype) -> torch.dtype:
    """Return the type in which onnxruntime computes: it has no Pow of bytes and booleans."""
    return dtype if dtype in _WITH_KERNEL or dtype.is_floating_point else torch.int32


def _differs(base: Tensor | Number, exponent: Tensor | Number) -> bool:
    result = torch.result_type(base, exponent)
    tensors = [item for item in (base, exponent) if isinstance(item, Tensor)]
    same = all(item.dtype == result for item in tensors)
    return not result.is_complex and not (same and _computed_in(result) == result)


@FAMILY.decomposes(
    "aten::pow.Tensor_Tensor",
    "aten::pow.Tensor_Scalar",
    "aten::pow.Scalar",
    defect="ONNX's Pow returns the type of its base; onnxruntime has none of bytes",
    method=_METHOD,
    applies=_differs,
)
def pow_in_one_type(base: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    result = torch.result_type(base, exponent)
    dtype = _computed_in(result)
    device = next(item.device for item in (base, exponent) if isinstance(item, Tensor))
    operands = [
        item.to(dtype)
        if isinstance(item, Tensor)
        else torch.full((), item, dtype=dtype, device=device)
        for item in (base, exponent)
    ]
    return torch.pow(*operands).to(result)
