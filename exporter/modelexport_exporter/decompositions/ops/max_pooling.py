"""Maximum pools with ceil_mode whose last window may begin beyond the input."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from modelexport_exporter.decompositions.ops.ceil_windows import Sizes, each, max_pooled
from modelexport_exporter.decompositions.registry import Why, decomposes


def _may_begin_beyond(
    _x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> bool:
    """Return whether there is a size at which the last window begins in the right margin."""
    kernel = each(kernel_size, 3)
    steps = each(stride, 3, kernel_size)
    margins, gaps = each(padding, 3), each(dilation, 3)
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
        return max_pooled(x, dims, kernel_size, stride, padding, dilation)

    return pooled


for _dims in (1, 2, 3):
    decomposes(
        f"aten::max_pool{_dims}d",
        why=Why.WRONG,
        method="an edge of -inf instead of ceil_mode",
        applies=_may_begin_beyond,
    )(_pool(_dims))
