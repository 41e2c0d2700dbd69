"""What rounding does to complex numbers, and inside of Fourier transforms.

The parts of a product cancel: their error is relative to the whole number. A transform adds all
numbers of its input for each of its results: their error is relative to the root mean square of
all results, times the square root of the number of stages, log2 of the length (J. C. Schatzman,
Accuracy of the discrete Fourier transform and the fast Fourier transform, 1996). Where the result
is far below that, as between the lines of a pure tone, it is a rounding error of any phase.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

TRANSFORMS = frozenset({"_fft_r2c", "_fft_c2c", "_fft_c2r"})
_OF_REAL = "_fft_r2c"
_PART_BY_PART = frozenset({"add", "sub", "rsub", "sum", "mean", "cumsum", "complex"})
"""Ops that compute a part from the same parts of other numbers."""


def magnitudes_of_transform(args: tuple[Any, ...], wide: Tensor) -> Tensor:
    """Return the numbers that the rounding of a transform's results is relative to.

    `args`: of `_fft_r2c`, `_fft_c2c` or `_fft_c2r`; `wide`: the result, of any length.
    """
    dims: Sequence[int] = args[1]
    length = math.prod(wide.shape[dim] for dim in dims)
    sizes = wide.abs()
    common = sizes.square().mean(tuple(dims), keepdim=True).sqrt()
    stages = math.sqrt(max(math.log2(max(length, 1)), 1.0))
    return torch.maximum(sizes, common * stages)


def rounding_of_parts(
    name: str, args: tuple[Any, ...], wide: Tensor, nearest: Tensor
) -> tuple[Tensor, Tensor]:
    """Return what the rounding of parts is relative to, and the parts that are exact: [..., 2].

    `wide`: the complex result in double precision; `nearest`: its parts in single precision.
    """
    parts = torch.view_as_real(wide)
    if name in TRANSFORMS:
        magnitudes = magnitudes_of_transform(args, wide)
        exact = torch.zeros_like(parts, dtype=torch.bool)
        if name == _OF_REAL:
            exact = _always_zero(args, wide)
        return magnitudes.unsqueeze(-1).expand_as(parts), exact
    exact = nearest.to(parts.dtype) == parts
    if name in _PART_BY_PART:
        return parts.abs(), exact
    return wide.abs().unsqueeze(-1).expand_as(parts), exact


def _always_zero(args: tuple[Any, ...], wide: Tensor) -> Tensor:
    """Return where a transform of real numbers is real: at 0 and at half of an even length."""
    real_bins = torch.ones([1] * wide.dim(), dtype=torch.bool, device=wide.device)
    for dim in args[1]:
        shape = [1] * wide.dim()
        shape[dim] = -1
        bins = torch.arange(wide.shape[dim], device=wide.device)
        real_bins = real_bins & ((bins == 0) | (2 * bins == args[0].shape[dim])).reshape(shape)
    imaginary = torch.tensor([False, True], device=wide.device)
    return real_bins.expand_as(wide).unsqueeze(-1) & imaginary
