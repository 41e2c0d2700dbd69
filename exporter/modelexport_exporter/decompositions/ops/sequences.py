"""linspace and logspace of one number, between tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Sequences of one number", __doc__)

_DEFECT = "the step is 0 / 0"


def _has_one_step(start: object, end: object, steps: object, *_: object, **__: object) -> bool:
    return isinstance(steps, int) and steps == 1


def _first(start: Tensor | float, end: Tensor | float, dtype: torch.dtype) -> Tensor:
    if isinstance(start, Tensor):
        return start.to(dtype).reshape(1)
    assert isinstance(end, Tensor)
    return torch.full((1,), start, dtype=dtype, device=end.device)


def _overloads(name: str) -> tuple[str, ...]:
    kinds = ("Tensor_Scalar", "Scalar_Tensor", "Tensor_Tensor")
    return tuple(f"aten::{name}.{kind}" for kind in kinds)


@FAMILY.decomposes(
    *_overloads("linspace"), defect=_DEFECT, method="the first number", applies=_has_one_step
)
def linspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    *,
    dtype: torch.dtype | None = None,
    **_: object,
) -> Tensor:
    return _first(start, end, dtype or torch.get_default_dtype())


@FAMILY.decomposes(
    *_overloads("logspace"), defect=_DEFECT, method="the first power", applies=_has_one_step
)
def logspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: torch.dtype | None = None,
    **_: object,
) -> Tensor:
    power = _first(start, end, torch.float64)
    return torch.pow(base, power).to(dtype or torch.get_default_dtype())
