"""One-sided bounds: onnxruntime's Clip turns infinities into the largest number without a bound."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Clamping", __doc__)

Bound = Tensor | float | None
_METHOD = "maximum or minimum with the bound"


def _is_float(x: Tensor, *bounds: Any) -> bool:  # noqa: ANN401
    return all(
        not isinstance(value, Tensor) or value.dtype.is_floating_point for value in (x, *bounds)
    )


def _misread(x: Tensor, min: Bound = None, max: Bound = None) -> bool:  # noqa: A002
    """Return whether Clip would misread it: one bound is missing, or an unsigned x has one below 0.

    torch.onnx also refuses one int and one float bound. Integers have no infinities, and
    onnxruntime has no Max of small integers: they are not rewritten.
    """
    if x.dtype == torch.uint8 and isinstance(min, int | float):
        return min < 0
    if not _is_float(x, min, max):
        return False
    return (min is None) != (max is None) or {type(min), type(max)} == {int, float}


def _operands(x: Tensor, bound: Tensor | float) -> tuple[Tensor, Tensor]:
    dtype = torch.result_type(x, bound)
    if isinstance(bound, Tensor):
        return x.to(dtype), bound.to(dtype)
    return x.to(dtype), torch.full((), bound, dtype=dtype, device=x.device)


@FAMILY.decomposes(
    "aten::clamp",
    "aten::clamp.Tensor",
    defect="onnxruntime's Clip turns infinities into the largest number if a bound is missing",
    method=_METHOD,
    applies=_misread,
)
def clamp(x: Tensor, min: Bound = None, max: Bound = None) -> Tensor:  # noqa: A002
    if x.dtype == torch.uint8:
        return x.clone() if max is None else torch.clamp(x, 0, max)  # type: ignore[arg-type]
    if isinstance(min, int | float) and isinstance(max, int | float):
        return torch.clamp(x, float(min), float(max))
    if min is not None:
        return torch.maximum(*_operands(x, min))
    assert max is not None
    return torch.minimum(*_operands(x, max))


@FAMILY.decomposes(
    "aten::clamp_min",
    "aten::clamp_min.Tensor",
    defect="onnxruntime's Clip turns infinities into the largest number if a bound is missing",
    method=_METHOD,
    applies=_is_float,
)
def clamp_min(x: Tensor, min: Tensor | float) -> Tensor:  # noqa: A002
    return torch.maximum(*_operands(x, min))


@FAMILY.decomposes(
    "aten::clamp_max",
    "aten::clamp_max.Tensor",
    defect="onnxruntime's Clip turns infinities into the largest number if a bound is missing",
    method=_METHOD,
    applies=_is_float,
)
def clamp_max(x: Tensor, max: Tensor | float) -> Tensor:  # noqa: A002
    return torch.minimum(*_operands(x, max))


FAMILY.composites |= {"aten::clip", "aten::clip.Tensor"}
