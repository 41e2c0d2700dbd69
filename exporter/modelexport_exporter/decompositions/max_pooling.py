"""Maximum pools whose last window may begin beyond the input.

With ceil_mode torch leaves out a window that would begin in the right margin. ONNX counts it, so
the file does not load, or has one column too many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.catalogue import Why, decomposes

Sizes = int | Sequence[int]
_POOLS: dict[int, Callable[..., Tensor]] = {
    1: torch.max_pool1d,
    2: torch.max_pool2d,
    3: torch.max_pool3d,
}


def _each(value: Sizes | None, count: int, otherwise: Sizes = 1) -> list[int]:
    value = otherwise if value is None or value == [] else value
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def _may_begin_beyond(
    _x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> bool:
    """Return whether there is a size at which the last window begins in the right margin."""
    kernel = _each(kernel_size, 3)
    steps = _each(stride, 3, kernel_size)
    margins, gaps = _each(padding, 3), _each(dilation, 3)
    return ceil_mode and any(
        margin + step > gap * (width - 1) + 1
        for width, step, margin, gap in zip(kernel, steps, margins, gaps, strict=True)
    )


def _pool(dims: int) -> Callable[..., Tensor]:
    def pooled(
        x: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
    ) -> Tensor:
        kernel = _each(kernel_size, dims)
        steps = _each(stride, dims, kernel)
        margins, gaps = _each(padding, dims), _each(dilation, dims)
        extra = [step - 1 if ceil_mode else 0 for step in steps]
        pads = [
            pad
            for axis in reversed(range(dims))
            for pad in (margins[axis], margins[axis] + extra[axis])
        ]
        lowest = -float("inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
        result = _POOLS[dims](F.pad(x, pads, value=lowest), kernel, steps, 0, gaps)
        for axis in range(dims) if ceil_mode else ():
            windows = (x.shape[axis - dims] + margins[axis] + steps[axis] - 1) // steps[axis]
            index = [slice(None)] * result.dim()
            index[axis - dims] = slice(None, windows)
            result = result[tuple(index)]
        return result

    return pooled


for _dims in _POOLS:
    decomposes(
        f"aten::max_pool{_dims}d",
        why=Why.WRONG,
        method="margins of -inf, and the windows that begin in the input or its left margin",
        applies=_may_begin_beyond,
    )(_pool(_dims))
