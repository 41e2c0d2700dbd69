"""Convolutions whose arguments follow a dynamic dim: the number of groups, or the output_padding.

ONNX's Conv has its groups as a constant. Kernels of each sample's own (modulated convolutions,
hypernetworks) and of each of `batch * channels` signals become products of windows.

torch.export fixes output_padding. It only adds to the end of the result, so the largest one is
computed, and the result is cut.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import (
    Call,
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.ceil_windows import Sizes, each
from modelexport_exporter.decompositions.ops.sliced_windows import (
    convolve_windows,
    convolve_windows_transposed,
)

CALLS = Replacements()


def _conv_transpose(function: Call, dims: int) -> Call:
    def conv_transpose(
        input: Tensor,  # noqa: A002 - torch's own name
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        dilation: Sizes = 1,
    ) -> Result:
        if is_open(groups):
            return convolve_windows_transposed(
                dims, input, weight, bias, stride, padding, output_padding, groups, dilation
            )
        added = each(output_padding, dims)
        if not any(map(is_open, added)):
            return NotImplemented
        largest = [
            max(step, gap) - 1
            for step, gap in zip(each(stride, dims), each(dilation, dims), strict=True)
        ]
        result = function(input, weight, bias, stride, padding, largest, groups, dilation)
        for place, (own, most) in enumerate(zip(added, largest, strict=True)):
            axis = result.dim() - dims + place
            result = result.narrow(axis, 0, result.shape[axis] - most + own)
        return result

    return conv_transpose


def _conv(
    input: Tensor,  # noqa: A002 - torch's own name
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Result:
    if not is_open(groups):
        return NotImplemented
    dims = weight.dim() - 2
    return convolve_windows(dims, input, weight, bias, stride, padding, dilation, groups)


CALLS.replaces("conv1d", torch.conv1d)(_conv)
CALLS.replaces("conv2d", torch.conv2d)(_conv)
CALLS.replaces("conv3d", torch.conv3d)(_conv)
for _dims, _function in enumerate(
    (torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d), start=1
):
    CALLS.replaces(f"conv_transpose{_dims}d", _function)(_conv_transpose(_function, _dims))
