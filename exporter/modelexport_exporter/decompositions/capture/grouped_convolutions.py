"""Convolutions with as many groups as a dynamic dim has, which ONNX's Conv cannot hold.

Kernels of each sample's own (`groups=batch`: modulated convolutions, hypernetworks) and kernels
for each of `batch * channels` signals are written so. Each group is one product of its windows
with its kernel.
"""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import SymInt, Tensor

from modelexport_exporter.decompositions.ops.ceil_windows import Sizes, each


def convolve_groups(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes | str,
    dilation: Sizes,
    groups: int | SymInt,
) -> Tensor:
    """Return the convolution of x, [batch, groups * channels, *sizes], or without batch.

    `weight` is [groups * results, channels, *kernel]; the result [batch, groups * results, *sizes].
    """
    kernel = weight.shape[2:]
    dims = len(kernel)
    if x.dim() == dims + 1:
        alone = convolve_groups(x[None], weight, bias, stride, padding, dilation, groups)
        return alone.squeeze(0)
    gaps = each(dilation, dims)
    spans = [gap * (size - 1) + 1 for gap, size in zip(gaps, kernel, strict=True)]
    windows = F.pad(x, _both_sides(padding, spans))
    windows = windows.reshape(x.shape[0], groups, weight.shape[1], *windows.shape[2:])
    for place, (span, step, gap) in enumerate(zip(spans, each(stride, dims), gaps, strict=True)):
        windows = windows.unfold(3 + place, span, step)[..., ::gap]
    sizes = windows.shape[3 : 3 + dims]
    # [batch, groups, sizes, channels * kernel] times [groups, channels * kernel, results]
    columns = windows.movedim(2, 2 + dims).flatten(2 + dims).flatten(2, 1 + dims)
    kernels = weight.reshape(groups, -1, columns.shape[-1]).transpose(1, 2)
    result = (columns @ kernels).transpose(2, 3).reshape(x.shape[0], weight.shape[0], *sizes)
    return result if bias is None else result + bias.reshape(-1, *[1] * dims)


def convolve_groups_transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    groups: int | SymInt,
    dilation: Sizes,
) -> Tensor:
    """Return the transposed convolution: zeros between the elements, and the kernel reversed.

    `weight` is [groups * channels, results, *kernel].
    """
    kernel = weight.shape[2:]
    dims = len(kernel)
    axes = list(range(-dims, 0))
    gaps, edges = each(dilation, dims), each(padding, dims)
    around: list[int] = []
    for axis, step in zip(axes, each(stride, dims), strict=True):
        x = _spread(x, axis, step)
    for gap, size, edge, more in reversed(
        list(zip(gaps, kernel, edges, each(output_padding, dims), strict=True))
    ):
        span = gap * (size - 1)
        around += [span - edge, span - edge + more]
    own = weight.reshape(groups, -1, *weight.shape[1:]).transpose(1, 2).flip(axes)
    own = own.reshape(-1, own.shape[2], *kernel)
    return convolve_groups(F.pad(x, around), own, bias, 1, 0, dilation, groups)


def _both_sides(padding: Sizes | str, spans: list[int]) -> list[int]:
    """Return what F.pad takes: the last dim first; 'same' pads the odd element at the end."""
    if padding == "valid":
        padding = 0
    if isinstance(padding, str):
        return [part for span in reversed(spans) for part in ((span - 1) // 2, span // 2)]
    return [edge for edge in reversed(each(padding, len(spans))) for _ in range(2)]


def _spread(x: Tensor, axis: int, step: int) -> Tensor:
    """Return x with `step - 1` zeros between its elements along an axis."""
    if step == 1:
        return x
    moved = x.movedim(axis, -1)
    spread = F.pad(moved[..., None], (0, step - 1)).flatten(-2)
    return spread.narrow(-1, 0, spread.shape[-1] - (step - 1)).movedim(-1, axis)
