"""Pools over dynamic dims: torch.export fixes the size for ceil_mode, and for any 1d pool."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

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

CALLS = Replacements()


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
        if divisor_override is not None or not ceil_mode or not any(map(is_open, x.shape[-dims:])):
            return NotImplemented
        return average_windows(x, dims, kernel_size, stride, padding, count_include_pad)

    return avg_pool


CALLS.replaces("max_pool1d", torch.max_pool1d, F.max_pool1d)(_max_pool(1))
CALLS.replaces("max_pool2d", torch.max_pool2d, F.max_pool2d)(_max_pool(2))
CALLS.replaces("max_pool3d", torch.max_pool3d, F.max_pool3d)(_max_pool(3))
CALLS.replaces("avg_pool1d", F.avg_pool1d)(_avg_pool(1))
CALLS.replaces("avg_pool2d", F.avg_pool2d)(_avg_pool(2))
CALLS.replaces("avg_pool3d", F.avg_pool3d)(_avg_pool(3))
