"""Pooling with divisor_override, and adaptive pooling to sizes that do not divide the input's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.ceil_windows import Sizes, divided, each, sum_windows
from modelexport_exporter.decompositions.ops.sliced_windows import average, has_no_kernel
from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import Size

FAMILY = Family("Pooling", __doc__)

_CUT = 32
"""The maximum number of windows that are sliced one by one."""


def _divides(
    x: Tensor, *arguments: object, divisor_override: int | None = None, **_: object
) -> bool:
    if has_no_kernel(x):
        return True
    return divisor_override is not None or len(arguments) > 5 and arguments[5] is not None  # noqa: RUF021


@FAMILY.decomposes(
    "aten::avg_pool2d",
    defect="divisor_override is ignored; onnxruntime has no AveragePool of float64 and integers",
    method="sum over the window, divided by divisor_override or by its elements",
    applies=_divides,
)
def avg_pool2d(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    if divisor_override is None:
        return average(2, x, kernel_size, stride, padding, ceil_mode, count_include_pad)
    total = sum_windows(x, 2, kernel_size, stride, padding, ceil_mode)
    return divided(total, divisor_override)


@FAMILY.decomposes(
    "aten::avg_pool3d",
    defect="divisor_override is ignored; onnxruntime has no AveragePool of float64 and integers",
    method="sum over the window, divided by divisor_override or by its elements",
    applies=_divides,
)
def avg_pool3d(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    if divisor_override is None:
        return average(3, x, kernel_size, stride, padding, ceil_mode, count_include_pad)
    total = sum_windows(x, 3, kernel_size, stride, padding, ceil_mode)
    return divided(total, divisor_override)


def _windows(size: Size, windows: int, like: Tensor) -> Tensor:
    """Return which positions (columns) belong to which window (rows) of an adaptive pool."""
    i = torch.arange(windows, device=like.device).unsqueeze(1)
    begin = i * size // windows
    end = ((i + 1) * size + windows - 1) // windows
    position = torch.arange(size, device=like.device).unsqueeze(0)
    return (position >= begin) & (position < end)


def _uneven(dims: int, x: Tensor, output_size: Sizes) -> bool:
    """Return whether torch.onnx has no pool for it: uneven windows, dynamic sizes, three dims."""
    wished = each(output_size, dims)
    if all(wanted == 1 for wanted in wished):
        return False
    return dims == 3 or any(
        not isinstance(size, int) or wanted == 0 or size % wanted
        for size, wanted in zip(x.shape[-dims:], wished, strict=True)
    )


def _average(dims: int, x: Tensor, output_size: Sizes) -> Tensor:
    for axis, wanted in enumerate(each(output_size, dims), start=-dims):
        size = x.shape[axis]
        if isinstance(size, int) and 0 < wanted <= _CUT and not torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
            x = _means(x, axis, wanted)
            continue
        window = _windows(size, wanted, x).to(torch.promote_types(x.dtype, torch.float32))
        # Divided after the sum, as eager does: the mean of equal numbers is that number.
        means = _product(x.movedim(axis, -1), window.mT) / window.sum(1)
        x = means.to(x.dtype).movedim(-1, axis)
    return x


def _means(x: Tensor, axis: int, wanted: int) -> Tensor:
    """Return the mean of each window of an axis of static size."""
    size = x.shape[axis]
    bounds = [(k * size // wanted, -(-(k + 1) * size // wanted)) for k in range(wanted)]
    parts = [x.narrow(axis, begin, end - begin) for begin, end in bounds]
    return torch.cat([part.mean(axis, keepdim=True) for part in parts], axis)


def _product(x: Tensor, weights: Tensor) -> Tensor:
    """Return x @ weights, with infinities and NaN only in the windows that contain them."""
    x = x.to(weights.dtype)
    infinity = torch.full((), float("inf"), dtype=x.dtype, device=x.device)
    finite = x.abs() < infinity
    result = torch.where(finite, x, 0.0) @ weights
    for sign in (1, -1):
        # NaN is counted as both infinities: their sum is NaN again.
        odd = (~finite & ~(x * sign < 0)).to(x.dtype)
        result = torch.where(odd @ weights > 0, result + sign * infinity, result)
    return result


def _best(x: Tensor, indices: Tensor | None, axis: int, wanted: int) -> tuple[Tensor, Tensor]:
    """Return the maxima along one axis, and the flat index of each within the pooled dims."""
    moved = x.movedim(axis, -1).unsqueeze(-2)
    inside = _windows(x.shape[axis], wanted, x)
    lowest = torch.full_like(moved, -float("inf"))
    # NaN is the maximum of its window; ONNX's ArgMax ignores it.
    greatest = torch.finfo(x.dtype).max
    # What is outside of a window comes after an infinity inside.
    ranked = torch.where(torch.isnan(moved), -lowest, torch.clamp(moved, -greatest, greatest))
    place = torch.where(inside, ranked, lowest).argmax(-1, keepdim=True)
    values = moved.expand(*moved.shape[:-2], *inside.shape).gather(-1, place)
    if indices is None:
        flat = place
    else:
        source = indices.movedim(axis, -1).unsqueeze(-2).expand(*moved.shape[:-2], *inside.shape)
        flat = source.gather(-1, place)
    return values.squeeze(-1).movedim(-1, axis), flat.squeeze(-1).movedim(-1, axis)


def _maxima(dims: int, x: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
    sizes = x.shape[-dims:]
    flat = torch.arange(math.prod(sizes), device=x.device).reshape(sizes).expand(x.shape)
    values, indices = x, flat
    wished = each(output_size, dims)
    for axis in range(-1, -dims - 1, -1):
        values, indices = _best(values, indices, axis, wished[axis])
    return values, indices


for _dims in (1, 2, 3):
    _names = [f"aten::adaptive_avg_pool{_dims}d"]
    FAMILY.decomposes(
        *_names if _dims == 1 else (*_names, f"aten::_adaptive_avg_pool{_dims}d"),
        defect="wrong windows of a dynamic size; 3d, and uneven windows of TorchScript, refused",
        method=(
            "mean of each window, or product with their weights where the size is open, dim by dim"
        ),
        accuracy="3e-7 (float32)",
        applies=partial(_uneven, _dims),
    )(partial(_average, _dims))
    FAMILY.decomposes(
        f"aten::adaptive_max_pool{_dims}d",
        method="maximum over a mask of the windows, dim by dim",
    )(partial(_maxima, _dims))
