"""Pools over dynamic dims.

torch.export fixes the size for ceil_mode, for any 1d pool, and for windows made of sizes.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.decompositions.capture.registry import (
    Call,
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.ceil_windows import (
    Sizes,
    average_windows,
    each,
    max_pool_ceil,
    max_pool_floor,
)
from modelexport_exporter.decompositions.ops.open_windows import (
    adaptive_max_open,
    average_open_windows,
    max_open_windows,
)

CALLS = Replacements()


def _covers(x: Tensor, dims: int, kernel_size: Sizes, padding: Sizes) -> bool:
    """Return whether one window is as large as the image, of which a size is open."""
    kernel, sizes = each(kernel_size, dims), x.shape[-dims:]
    whole = all(statically_known_true(one == size) for one, size in zip(kernel, sizes, strict=True))
    return whole and any(map(is_open, kernel)) and not any(each(padding, dims))


def _are_open(dims: int, *options: Sizes | None) -> bool:
    """Return whether an option is made of the size of a dynamic dim."""
    return any(is_open(one) for option in options for one in each(option, dims))


def _max_pool(dims: int) -> Call:
    def max_pool(
        x: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Result:
        if return_indices or not any(map(is_open, x.shape[-dims:])):
            return NotImplemented
        if dilation == 1 and _covers(x, dims, kernel_size, padding):
            return x.amax(tuple(range(-dims, 0)), keepdim=True)
        if _are_open(dims, kernel_size, stride, padding, dilation):
            return max_open_windows(x, dims, kernel_size, stride, padding, dilation, ceil_mode)
        if ceil_mode:
            return max_pool_ceil(x, dims, kernel_size, stride, padding, dilation)
        if dims > 1:
            return NotImplemented
        kernel = each(kernel_size, 1)
        steps, margins, gaps = each(stride, 1, kernel), each(padding, 1), each(dilation, 1)
        return max_pool_floor(x, kernel, steps, margins, gaps)

    return max_pool


def _avg_pool(dims: int) -> Call:
    def avg_pool(
        x: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Result:
        if not any(map(is_open, x.shape[-dims:])):
            return NotImplemented
        if divisor_override is None and _covers(x, dims, kernel_size, padding):
            return x.mean(tuple(range(-dims, 0)), keepdim=True)
        if _are_open(dims, kernel_size, stride, padding):
            counts = (count_include_pad, divisor_override)
            return average_open_windows(x, dims, kernel_size, stride, padding, ceil_mode, *counts)
        if divisor_override is not None or not ceil_mode:
            return NotImplemented
        return average_windows(x, dims, kernel_size, stride, padding, count_include_pad)

    return avg_pool


def _adaptive_max_pool(dims: int) -> Call:
    def adaptive_max_pool(x: Tensor, output_size: Sizes, return_indices: bool = False) -> Result:
        if return_indices or not _are_open(dims, output_size):
            return NotImplemented
        return adaptive_max_open(x, dims, output_size)

    return adaptive_max_pool


@CALLS.replaces("adaptive_avg_pool1d", F.adaptive_avg_pool1d)
def adaptive_avg_pool1d(x: Tensor, output_size: Sizes) -> Result:
    if not _are_open(1, output_size):
        return NotImplemented
    (length,) = each(output_size, 1)
    return F.adaptive_avg_pool2d(x.unsqueeze(-2), (1, length)).squeeze(-2)


CALLS.replaces("adaptive_max_pool1d", F.adaptive_max_pool1d)(_adaptive_max_pool(1))
CALLS.replaces("adaptive_max_pool2d", F.adaptive_max_pool2d)(_adaptive_max_pool(2))
CALLS.replaces("adaptive_max_pool3d", F.adaptive_max_pool3d)(_adaptive_max_pool(3))
CALLS.replaces("max_pool1d", torch.max_pool1d, F.max_pool1d)(_max_pool(1))
CALLS.replaces("max_pool2d", torch.max_pool2d, F.max_pool2d)(_max_pool(2))
CALLS.replaces("max_pool3d", torch.max_pool3d, F.max_pool3d)(_max_pool(3))
CALLS.replaces("avg_pool1d", F.avg_pool1d)(_avg_pool(1))
CALLS.replaces("avg_pool2d", F.avg_pool2d)(_avg_pool(2))
CALLS.replaces("avg_pool3d", F.avg_pool3d)(_avg_pool(3))
