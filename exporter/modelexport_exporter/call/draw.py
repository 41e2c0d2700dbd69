"""Tensors of declared dtype, shape and range.

Guarantees the same values for the same seed on every machine, all within the declared range.
"""

from __future__ import annotations

import math
from collections.abc import Container

import torch

from modelexport_api.spec import DType, Input

TORCH_DTYPES: dict[DType, torch.dtype] = {
    dtype: getattr(torch, dtype.value) for dtype in DType if dtype is not DType.STRING
}

_TELLING = 2
"""0 and 1 are special to torch, and to much arithmetic."""
_TRIED = 64


def draw(entry: Input, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Return a tensor of the input's dtype: standard normal, or evenly from its range."""
    dtype = TORCH_DTYPES[entry.dtype]
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=generator).to(torch.bool)
    if dtype.is_floating_point:
        if entry.range is None:
            return torch.randn(shape, generator=generator).to(dtype)
        low, high = entry.range
        return (low + (high - low) * torch.rand(shape, generator=generator)).to(dtype)
    low, high = entry.range or (0.0, 1.0)
    info = torch.iinfo(dtype)
    smallest, largest = max(math.ceil(low), info.min), min(math.floor(high), info.max)
    top = min(largest, torch.iinfo(torch.int64).max - 1) + 1
    return torch.randint(smallest, top, shape, generator=generator, dtype=torch.int64).to(dtype)


def unlike(entry: Input, taken: Container[int]) -> int:
    """Return an integer in the range of an Int that no size has: torch takes equal ones for one."""
    low, high = (math.ceil(entry.range[0]), math.floor(entry.range[1])) if entry.range else (0, 1)
    nearest = min(max(_TELLING, low), high)
    upwards = range(nearest, min(high, nearest + _TRIED) + 1)
    downwards = range(nearest, max(low, nearest - _TRIED) - 1, -1)
    return next((number for number in (*upwards, *downwards) if number not in taken), nearest)
