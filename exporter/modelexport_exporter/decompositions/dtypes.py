"""Which dtype an argument has, as conditions of decompositions ask it."""

from __future__ import annotations

import torch
from torch import Tensor

HALVES = frozenset({torch.float16, torch.bfloat16})


def is_integral(x: Tensor, *_: object, **__: object) -> bool:
    """Return whether x holds integers or booleans."""
    return not (x.dtype.is_floating_point or x.dtype.is_complex)


def as_floats(x: Tensor) -> Tensor:
    """Return x as floats, which torch makes of integers and booleans."""
    return x.to(torch.get_default_dtype()) if is_integral(x) else x
