"""linspace and logspace of one number, from a tensor."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Sequences of one number", __doc__)

_DEFECT = "the step is 0 / 0"


def _has_one_step(start: object, end: object, steps: object, *_: object, **__: object) -> bool:
    return isinstance(steps, int) and steps == 1


def _overloads(name: str) -> tuple[str, ...]:
    return f"aten::{name}.Tensor_Scalar", f"aten::{name}.Tensor_Tensor"


@FAMILY.decomposes(
    *_overloads("linspace"), defect=_DEFECT, method="the first number", applies=_has_one_step
)
def linspace(
    start: Tensor,
    end: Tensor | float,
    steps: int,
    *,
    dtype: torch.dtype | None = None,
    **_: object,
) -> Tensor:
    return start.to(dtype or torch.get_default_dtype()).reshape(1)


@FAMILY.decomposes(
    *_overloads("logspace"), defect=_DEFECT, method="the first power", applies=_has_one_step
)
def logspace(
    start: Tensor,
    end: Tensor | float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: torch.dtype | None = None,
    **_: object,
) -> Tensor:
    return torch.pow(base, start.to(torch.float64).reshape(1)).to(
        dtype or torch.get_default_dtype()
    )
