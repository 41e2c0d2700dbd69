"""Convolutions and pools of float64 and integers, of which onnxruntime has only float32 kernels.

Each place of a window is a slice of the padded input: a pool is the sum or the maximum of the
slices, a convolution one product of the weights with all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.dtypes import is_integral
from modelexport_exporter.decompositions.ops.ceil_windows import (
    Sizes,
    average_windows,
    both_sides,
    divided,
    each,
    edge,
    has_pools,
    lowest,
    places_of_windows,
    sum_windows,
    widen,
)
from modelexport_exporter.decompositions.ops.double_precision import of_channels
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Convolutions and pools of float64 and integers", __doc__)


def _padded(x: Tensor, pads: Sequence[tuple[int, int]]) -> Tensor:
    """Return x with zeros before and after its last dims; a negative number cuts."""
    for axis, (before, after) in enumerate(pads, start=-len(pads)):
        cut = x.shape[axis] + min(before, 0) + min(after, 0)
        x = x.narrow(axis, -min(before, 0), cut) if min(before, after) < 0 else x
    zeros = [max(pad, 0) for pair in reversed(pads) for pad in pair]
    return F.pad(x, zeros) if any(zeros) else x


def _correlated(
    x: Tensor, weight: Tensor, bias: Tensor | None, steps: list[int], gaps: list[int], groups: int
) -> Tensor:
    """Return the convolution of a padded batch, without padding of its own."""
    kernel = list(weight.shape[2:])
    slices = torch.stack(places_of_windows(x, kernel, steps, gaps), 2)
    sizes = slices.shape[3:]
    width = weight.shape[1] * math.prod(kernel)
    columns = slices.reshape(x.shape[0], groups, width, -1)
    rows = weight.reshape(groups, weight.shape[0] // groups, width)
    result = (rows @ columns).reshape(x.shape[0], weight.shape[0], *sizes)
    return result if bias is None else result + of_channels(bias, x.dim())


def _batched(x: Tensor, dims: int, convolve: Callable[[Tensor], Tensor]) -> Tensor:
    return convolve(x) if x.dim() == dims + 2 else convolve(x.unsqueeze(0)).squeeze(0)


def convolve_windows(
    dims: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return a convolution, of any number of groups and dtype."""
    steps, gaps = each(stride, dims), each(dilation, dims)
    spans = [gap * (size - 1) for gap, size in zip(gaps, weight.shape[2:], strict=True)]
    if padding == "same":
        pads = [(span // 2, span - span // 2) for span in spans]
    else:
        margins = [0] * dims if isinstance(padding, str) else each(padding, dims)
        pads = [(margin, margin) for margin in margins]
    return _batched(
        x, dims, lambda own: _correlated(_padded(own, pads), weight, bias, steps, gaps, groups)
    )


def _spread(x: Tensor, axis: int, step: int) -> Tensor:
    """Return x with step - 1 zeros between neighbours along an axis."""
    if step == 1:
        return x
    wide = F.pad(x.movedim(axis, -1).unsqueeze(-1), [0, step - 1]).flatten(-2)
    return wide.narrow(-1, 0, wide.shape[-1] - step + 1).movedim(-1, axis)


def convolve_windows_transposed(
    dims: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return a transposed convolution: zeros between the inputs, and the weights turned."""
    gaps, added = each(dilation, dims), each(output_padding, dims, 0)
    spans = [gap * (size - 1) for gap, size in zip(gaps, weight.shape[2:], strict=True)]
    margins = [span - margin for span, margin in zip(spans, each(padding, dims), strict=True)]
    pads = [(margin, margin + more) for margin, more in zip(margins, added, strict=True)]
    turned = weight.flip(tuple(range(2, dims + 2)))
    turned = turned.reshape(groups, -1, *weight.shape[1:]).transpose(1, 2).flatten(0, 1)

    def convolve(own: Tensor) -> Tensor:
        for axis, step in enumerate(each(stride, dims), start=2):
            own = _spread(own, axis, step)
        return _correlated(_padded(own, pads), turned, bias, [1] * dims, gaps, groups)

    return _batched(x, dims, convolve)


def has_no_kernel(x: Tensor, *_: object, **__: object) -> bool:
    """Return whether onnxruntime has neither Conv nor AveragePool of its dtype."""
    return not (has_pools(x) or x.dtype.is_complex)


_DEFECT = "onnxruntime has no Conv and no ConvTranspose of float64 and integers"
for _dims in (1, 2, 3):
    FAMILY.decomposes(
        f"aten::conv{_dims}d",
        f"aten::conv{_dims}d.padding",
        defect=_DEFECT,
        method="weights @ slices of the input, one for each place of a window",
        accuracy="1e-15 (float64)",
        applies=has_no_kernel,
    )(partial(convolve_windows, _dims))


def _has_no_kernel_or_is_padded_by_a_stride(
    x: Tensor,
    *given: Any,  # noqa: ANN401
    **__: object,
) -> bool:
    weight, stride, transposed, added = given[0], given[2], given[5], given[6]
    dims = weight.dim() - 2
    pairs = zip(each(added, dims, 0), each(stride, dims), strict=True)
    return has_no_kernel(x) or (transposed and any(more >= step for more, step in pairs))


@FAMILY.decomposes(
    "aten::convolution",
    defect=_DEFECT + ", and takes no output_padding of a stride or more",
    method="as conv; transposed with zeros between the inputs, and the weights turned",
    accuracy="1e-15 (float64), 3e-7 (float32)",
    applies=_has_no_kernel_or_is_padded_by_a_stride,
)
def convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    dims = weight.dim() - 2
    if transposed:
        return convolve_windows_transposed(
            dims, x, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return convolve_windows(dims, x, weight, bias, stride, padding, dilation, groups)


def average(
    dims: int,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the average pool of float64, or of integers."""
    if ceil_mode:
        return average_windows(x, dims, kernel_size, stride, padding, count_include_pad)
    total = sum_windows(x, dims, kernel_size, stride, padding)
    if count_include_pad or not any(each(padding, dims)):
        return divided(total, math.prod(each(kernel_size, dims)))
    held = sum_windows(torch.ones_like(x), dims, kernel_size, stride, padding)
    return divided(total, held)


FAMILY.decomposes(
    "aten::avg_pool1d",
    defect="onnxruntime has no AveragePool of float64 and integers",
    method="the sum of slices, one for each place of a window, divided",
    accuracy="1e-15 (float64)",
    applies=has_no_kernel,
)(partial(average, 1))


def maximum(
    dims: int,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maximum of each window of integers, and its first place in the last dims."""
    kernel = each(kernel_size, dims)
    steps, margins, gaps = each(stride, dims, kernel), each(padding, dims), each(dilation, dims)
    sizes = x.shape[-dims:]
    places = torch.arange(math.prod(sizes), device=x.device).reshape(sizes)
    if ceil_mode:
        edges = [edge(*options) for options in zip(kernel, steps, margins, gaps, strict=True)]
        x, places = widen(x, dims, edges, lowest(x)), widen(places, dims, edges, 0)
    if any(margins):
        pads = both_sides(margins)
        x, places = F.pad(x, pads, value=lowest(x)), F.pad(places, pads)
    best, *others = places_of_windows(x, kernel, steps, gaps)
    first, *further = places_of_windows(places, kernel, steps, gaps)
    for value, place in zip(others, further, strict=True):
        first = torch.where(value > best, place, first)
        best = torch.maximum(best, value)
    return best, first.expand(best.shape)


def _maxima(dims: int, x: Tensor, *options: Any) -> Tensor:  # noqa: ANN401
    return maximum(dims, x, *options)[0]


_NO_MAX_POOL = "ONNX has no MaxPool of int16, int32 and int64"
for _dims in (2, 3):
    FAMILY.decomposes(
        f"aten::max_pool{_dims}d",
        defect=_NO_MAX_POOL,
        method="the maximum of slices, one for each place of a window",
        accuracy="exact",
        applies=is_integral,
    )(partial(_maxima, _dims))
    FAMILY.decomposes(
        f"aten::max_pool{_dims}d_with_indices",
        defect=_NO_MAX_POOL,
        method="as max_pool, and the first place of it",
        accuracy="exact",
        applies=is_integral,
    )(partial(maximum, _dims))
