"""Pools whose windows have sizes of dynamic dims, which the pools of ONNX fix as attributes.

A maximum or a sum over a window is one over each of its axes after the other, so each axis is
gathered into its windows, [..., windows, places, ...], and reduced. Places beyond the edges hold a
value that changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.ceil_windows import Sizes, each, lowest


@dataclass(frozen=True)
class _Windows:
    """The windows along one axis of a size."""

    size: int
    kernel: int
    step: int
    margin: int
    gap: int
    ceil: bool

    @property
    def count(self) -> int:
        """Return how many there are; the last one begins in the input or its first margin."""
        rest = self.size + 2 * self.margin - self.gap * (self.kernel - 1) - 1
        if not self.ceil:
            return rest // self.step + 1
        begun = (rest + self.step - 1) // self.step + 1
        return torch.sym_min(begun, (self.size + self.margin + self.step - 1) // self.step)  # type: ignore[return-value]

    def places(self, device: torch.device) -> Tensor:
        """Return where each place of each window lies in the input."""
        first = torch.arange(self.count, device=device) * self.step - self.margin
        return first.unsqueeze(1) + torch.arange(self.kernel, device=device) * self.gap


def _gathered(x: Tensor, axis: int, places: Tensor, inside: Tensor, beyond: float) -> Tensor:
    """Return x with its axis as two, the windows and their places."""
    parts = x.index_select(axis, places.clamp(0, x.shape[axis] - 1).reshape(-1))
    after = x.shape[axis + 1 :]
    parts = parts.reshape(*x.shape[:axis], *places.shape, *after)
    return parts.masked_fill(~inside.reshape(*places.shape, *[1] * len(after)), beyond)


def _axes(
    x: Tensor,
    dims: int,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> list[tuple[int, _Windows]]:
    kernel = each(kernel_size, dims)
    options = (kernel, each(stride, dims, kernel), each(padding, dims), each(dilation, dims))
    return [
        (axis, _Windows(x.shape[axis], *option, ceil_mode))
        for axis, option in enumerate(zip(*options, strict=True), start=x.dim() - dims)
    ]


def max_open_windows(
    x: Tensor,
    dims: int,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the maximum of each window of the last dims."""
    for axis, windows in _axes(x, dims, kernel_size, stride, padding, dilation, ceil_mode):
        places = windows.places(x.device)
        inside = (places >= 0) & (places < windows.size)
        x = _gathered(x, axis, places, inside, lowest(x)).amax(axis + 1)
    return x


def average_open_windows(
    x: Tensor,
    dims: int,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the average of each window of the last dims."""
    for axis, windows in _axes(x, dims, kernel_size, stride, padding, 1, ceil_mode):
        places = windows.places(x.device)
        inside = (places >= 0) & (places < windows.size)
        after = x.dim() - axis - 1
        x = _gathered(x, axis, places, inside, 0).sum(axis + 1)
        if divisor_override is None:
            if count_include_pad:  # a last window that ceil_mode began ends with the margin
                inside = places < windows.size + windows.margin
            x = x / inside.sum(1).to(x.dtype).reshape(-1, *[1] * after)
    return x if divisor_override is None else x / divisor_override


def adaptive_max_open(x: Tensor, dims: int, output_size: Sizes) -> Tensor:
    """Return the maximum of each of as many windows as wished, which share the size evenly."""
    wishes: Sequence[int | None] = each(output_size, dims)
    for axis, wished in enumerate(wishes, start=x.dim() - dims):
        size = x.shape[axis]
        if wished is None:
            continue
        window = torch.arange(wished, device=x.device).unsqueeze(1)
        begin, end = window * size // wished, ((window + 1) * size + wished - 1) // wished
        # No window is longer than size / wished, rounded up, and one for each of its ends.
        places = begin + torch.arange(size // wished + 2, device=x.device)
        x = _gathered(x, axis, places, places < end, lowest(x)).amax(axis + 1)
    return x
