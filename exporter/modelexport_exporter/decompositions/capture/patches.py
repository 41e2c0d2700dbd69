"""Patches of pictures and their places in memory, where sizes are those of dynamic dims."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import (
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.ceil_windows import Sizes, each
from modelexport_exporter.torch_internals.reshapes import is_contiguous_at_large_sizes

CALLS = Replacements()


@CALLS.replaces("contiguous", Tensor.contiguous)
def contiguous(x: Tensor, memory_format: torch.memory_format = torch.contiguous_format) -> Result:
    """Copy what is not contiguous at all sizes: torch asks whether sizes of the example are 1."""
    if memory_format is not torch.contiguous_format or not any(map(is_open, x.shape)):
        return NotImplemented
    found = is_contiguous_at_large_sizes(x)
    if found is None:
        return NotImplemented
    return x if found else x.clone(memory_format=memory_format)


@CALLS.replaces("im2col", F.unfold)
def patches(
    input: Tensor,  # noqa: A002
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Result:
    options = [each(option, 2) for option in (kernel_size, dilation, padding, stride)]
    if input.dim() != 4 or not any(is_open(one) for option in options for one in option):
        return NotImplemented
    kernel, gaps, margins, steps = options
    x = F.pad(input, (margins[1], margins[1], margins[0], margins[0]))
    counts = []
    for axis in (0, 1):
        # [b, c, (kernel, windows,) height, width]: the first of both becomes two, then the second.
        place = -2 if axis == 0 else -1
        rest = x.shape[place] - gaps[axis] * (kernel[axis] - 1) - 1
        count = rest // steps[axis] + 1
        counts.append(count)
        places = (torch.arange(kernel[axis], device=x.device) * gaps[axis]).unsqueeze(1)
        places = places + torch.arange(count, device=x.device) * steps[axis]
        rows = x.index_select(place, places.reshape(-1))
        before, after = rows.shape[:place], rows.shape[place:][1:]
        x = rows.reshape(*before, kernel[axis], count, *after)
    b, c = input.shape[:2]
    flat = x.permute(0, 1, 2, 4, 3, 5)
    return flat.reshape(b, c * kernel[0] * kernel[1], counts[0] * counts[1])


@CALLS.replaces("col2im", F.fold)
def picture(
    input: Tensor,  # noqa: A002
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Result:
    """Return the sums of patches, by a transposed convolution that copies each to its place.

    torch's own check, that there are as many patches as fit, would fix the picture's size.
    """
    sizes = each(output_size, 2)
    kernel, gaps, margins, steps = (
        each(option, 2) for option in (kernel_size, dilation, padding, stride)
    )
    if input.dim() != 3 or not any(map(is_open, sizes)) or any(map(is_open, kernel)):
        return NotImplemented
    area = kernel[0] * kernel[1]
    padded = [sizes[axis] + 2 * margins[axis] for axis in (0, 1)]
    counts = [
        (padded[axis] - gaps[axis] * (kernel[axis] - 1) - 1) // steps[axis] + 1 for axis in (0, 1)
    ]
    places = torch.arange(counts[0] * counts[1], device=input.device)
    b, c = input.shape[0], input.shape[1] // area
    patches = input.index_select(-1, places).reshape(b * c, area, *counts)
    copies = torch.eye(area, dtype=input.dtype, device=input.device).reshape(area, 1, *kernel)
    sums = F.conv_transpose2d(patches, copies, stride=steps, dilation=gaps)
    rest = [padded[axis] - sums.shape[axis + 2] for axis in (0, 1)]
    sums = F.pad(sums, (0, rest[1], 0, rest[0]))
    rows = sums.narrow(2, margins[0], sizes[0]).narrow(3, margins[1], sizes[1])
    return rows.reshape(b, c, *sizes)
