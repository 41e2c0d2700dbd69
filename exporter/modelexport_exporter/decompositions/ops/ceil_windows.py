"""The windows of a pool with ceil_mode, without ceil_mode.

torch leaves out a last window that would begin beyond the input and its left margin; ONNX counts
it in older specifications. torch.export evaluates this at the example's size, which makes a dynamic
dim constant. Padding of the right width at the end of the input gives the same windows at every
size, without a condition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.sizes import Size

Sizes = int | Sequence[int]


def each(value: Sizes | None, count: int, otherwise: Sizes = 1) -> list[int]:
    """Return the option for each dim; one number applies to all dims, [] means the default."""
    if isinstance(value, int | torch.SymInt):
        return [value] * count
    values = list(value or ([otherwise] if isinstance(otherwise, int) else otherwise))
    return values * count if len(values) == 1 else values


def edge(kernel: int, step: int, margin: int, gap: int = 1) -> int:
    """Return how many elements to pad at the end, beyond the margin, instead of ceil_mode.

    A window spans s = gap * (kernel - 1) + 1 elements. With margin + step <= s each window that is
    begun begins before the right margin, and step - 1 elements complete it. Otherwise the windows
    are those that begin in the input or its left margin, ceil((size + margin) / step): s - 1
    elements behind the input, margin included, hold the rest of the last one.
    """
    return min(margin + step, gap * (kernel - 1) + 1) - 1 - margin


def widen(x: Tensor, dims: int, edges: Sequence[int], value: float) -> Tensor:
    """Return x padded at the end of each of its last dims with the value.

    By cat: onnxruntime fuses a Pad into the pool, where it allows less of it.
    """
    for axis, width in enumerate(edges, start=-dims):
        shape = list(x.shape)
        shape[axis] = width
        x = torch.cat([x, x.new_full(shape, value)], axis) if width else x
    return x


def lowest(x: Tensor) -> float:
    """Return what changes no maximum of values of this dtype."""
    return -float("inf") if x.is_floating_point() else torch.iinfo(x.dtype).min


def max_pool_ceil(
    x: Tensor,
    dims: int,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the maximum pool with ceil_mode of x: (batch, channels, ...) or (channels, ...)."""
    kernel = each(kernel_size, dims)
    steps, margins, gaps = each(stride, dims, kernel), each(padding, dims), each(dilation, dims)
    edges = [edge(*options) for options in zip(kernel, steps, margins, gaps, strict=True)]
    return max_pool_floor(widen(x, dims, edges, lowest(x)), kernel, steps, margins, gaps)


def max_pool_floor(
    x: Tensor, kernel: list[int], steps: list[int], margins: list[int], gaps: list[int]
) -> Tensor:
    """Return the maximum pool of x; in two dims for one, whose length torch.export keeps fixed."""
    if len(kernel) == 3:
        return torch.max_pool3d(x, kernel, steps, margins, gaps)
    if len(kernel) == 2:
        return torch.max_pool2d(x, kernel, steps, margins, gaps)
    options = ([1, *kernel], [1, *steps], [0, *margins], [1, *gaps])
    return torch.max_pool2d(x.unsqueeze(-2), *options).squeeze(-2)


def has_pools(x: Tensor) -> bool:
    """Return whether onnxruntime has an AveragePool, and a Conv, of this dtype."""
    return x.dtype.is_floating_point and x.dtype is not torch.float64


def places_of_windows(
    x: Tensor, kernel: Sequence[int], steps: Sequence[int], gaps: Sequence[int]
) -> list[Tensor]:
    """Return for each place of a window what all windows hold there, [..., windows]."""
    parts = []
    for places in product(*map(range, kernel)):
        part = x
        options = zip(places, kernel, steps, gaps, strict=True)
        for axis, (place, size, step, gap) in enumerate(options, start=-len(kernel)):
            windows = (x.shape[axis] - gap * (size - 1) - 1) // step + 1
            first = place * gap
            index = [slice(None)] * x.dim()
            index[axis] = slice(first, first + (windows - 1) * step + 1, step)
            part = part[tuple(index)]
        parts.append(part)
    return parts


def both_sides(margins: Sequence[int]) -> list[int]:
    """Return what F.pad takes for the same margin before and after each of the last dims."""
    return [pad for margin in reversed(margins) for pad in (margin, margin)]


def sum_windows(
    x: Tensor,
    dims: int,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the sum over each window; zeros lie beyond the edges."""
    kernel = each(kernel_size, dims)
    steps, margins = each(stride, dims, kernel), each(padding, dims)
    edges = [0] * dims
    if ceil_mode:
        edges = [edge(*options) for options in zip(kernel, steps, margins, strict=True)]
    if math.prod(kernel) > _LARGE:
        return _sum_by_axes(x, kernel, steps, margins, edges)
    x = widen(x, dims, edges, 0)
    if not has_pools(x):
        x = F.pad(x, both_sides(margins)) if any(margins) else x
        first, *others = places_of_windows(x, kernel, steps, [1] * dims)
        for part in others:
            first = first + part
        return first
    # By Conv: AveragePool divides by the number of elements, which rounds.
    convolve = (F.conv1d, F.conv2d, F.conv3d)[dims - 1]
    channels: Size = x.shape[-dims - 1]
    if isinstance(channels, int):
        weights = x.new_ones((channels, 1, *kernel))
        # torch.onnx gives a conv3d in groups a bias of one channel, if it has none.
        bias = x.new_zeros(channels) if dims == 3 else None
        return convolve(x, weights, bias, steps, margins, groups=channels)
    single = x.reshape(-1, 1, *x.shape[-dims:])
    total = convolve(single, x.new_ones((1, 1, *kernel)), stride=steps, padding=margins)
    return total.reshape(*x.shape[:-dims], *total.shape[2:])


_LARGE = 1024
"""Elements of a window: a convolution copies the picture as often, and pads it to a window."""


def _sum_by_axes(
    x: Tensor,
    kernel: Sequence[int],
    steps: Sequence[int],
    margins: Sequence[int],
    edges: Sequence[int],
) -> Tensor:
    """Return the sum over each window, one axis after another, without elements of the margins."""
    options = zip(kernel, steps, margins, edges, strict=True)
    for axis, (width, step, margin, rest) in enumerate(options, start=-len(kernel)):
        first = _first(x, axis, width, step, margin, rest).unsqueeze(1)
        place = torch.arange(x.shape[axis], device=x.device).unsqueeze(0)
        inside = (place >= first) & (place < first + width)
        rows = x.movedim(axis, -1).unsqueeze(-2)
        x = torch.where(inside, rows, torch.zeros_like(rows)).sum(-1).movedim(-1, axis)
    return x


def _first(x: Tensor, axis: int, width: int, step: int, margin: int, rest: int) -> Tensor:
    """Return where the windows along an axis begin, int64."""
    windows = (x.shape[axis] + 2 * margin + rest - width) // step + 1
    return torch.arange(windows, device=x.device) * step - margin


def _held(
    x: Tensor,
    kernel: Sequence[int],
    steps: Sequence[int],
    margins: Sequence[int],
    edges: Sequence[int],
    counted: Sequence[int],
) -> Tensor:
    """Return how many elements each window holds; `counted`: of each margin."""
    held = torch.ones((), dtype=x.dtype, device=x.device)
    options = zip(kernel, steps, margins, edges, counted, strict=True)
    for axis, (width, step, margin, rest, own) in enumerate(options, start=-len(kernel)):
        first = _first(x, axis, width, step, margin, rest)
        last = (first + width).clamp(max=x.shape[axis] + own)
        count = last - first.clamp(min=-own)
        held = held * count.to(x.dtype).reshape(-1, *[1] * (-axis - 1))
    return held


def divided(total: Tensor, count: Tensor | int) -> Tensor:
    """Return a mean as a pool does, which drops the fraction of integers."""
    if total.is_floating_point():
        return total / count
    return torch.div(total, count, rounding_mode="trunc")


def average_windows(
    x: Tensor,
    dims: int,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the average pool with ceil_mode: each sum over the elements that its window holds."""
    kernel = each(kernel_size, dims)
    steps, margins = each(stride, dims, kernel), each(padding, dims)
    edges = [edge(*options) for options in zip(kernel, steps, margins, strict=True)]
    if math.prod(kernel) > _LARGE:
        counted = margins if count_include_pad else [0] * dims
        held = _held(x, kernel, steps, margins, edges, counted)
        return divided(_sum_by_axes(x, kernel, steps, margins, edges), held)
    inside, outside = torch.ones_like(x), margins
    if count_include_pad and any(margins):
        inside, outside = F.pad(inside, both_sides(margins), value=1), [0] * dims
    held = sum_windows(widen(inside, dims, edges, 0), dims, kernel, steps, outside)
    return divided(sum_windows(x, dims, kernel, steps, margins, ceil_mode=True), held)
