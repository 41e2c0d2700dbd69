"""Frequencies and the inverse short-time transform, which ONNX does not have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("FFT", __doc__)


def _is_dynamic(_: Tensor, shifts: int | Sequence[int], dims: object = ()) -> bool:
    """Return whether a shift follows a size; a roll without dims is one of the flat tensor."""
    return bool(dims) and not all(type(shift) is int for shift in _each(shifts))


def _each(value: int | Sequence[int]) -> Sequence[int]:
    return list(value) if isinstance(value, (list, tuple)) else [cast("int", value)]


@FAMILY.decomposes(
    "aten::roll",
    defect="torch.onnx writes shifts as constants, and fails where one follows a size (fftshift)",
    method="rows by their index, arange less the shift",
    applies=_is_dynamic,
)
def roll(x: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> Tensor:
    for shift, dim in zip(_each(shifts), _each(dims), strict=True):
        size = x.shape[dim]
        rows = torch.arange(size, device=x.device) + (size - shift % size)
        x = torch.index_select(x, dim, torch.where(rows < size, rows, rows - size))
    return x


FAMILY.composites |= {"aten::fft_fftshift", "aten::fft_ifftshift"}


@FAMILY.decomposes("aten::fft_fftfreq", method="arange over n, the upper half less n")
def fft_fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: torch.dtype | None = None,
    layout: object = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    k = torch.arange(n, device=device)
    k = torch.where(k < (n + 1) // 2, k, k - n)
    return k.to(dtype or torch.float32) / (n * d)


@FAMILY.decomposes("aten::fft_rfftfreq", method="arange over n")
def fft_rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: torch.dtype | None = None,
    layout: object = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return torch.arange(n // 2 + 1, device=device).to(dtype or torch.float32) / (n * d)


@FAMILY.decomposes(
    "aten::istft",
    defect="torch.onnx cannot translate its own decomposition: unsqueeze of complex tensors",
    method="inverse DFT by matrix products, then overlap-add by a transposed convolution",
    accuracy="1e-6 (float32)",
    applies=lambda spectrum, n_fft, *rest, **named: _real_signal(*rest, **named),
)
def istft(
    spectrum: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    hop = hop_length or n_fft // 4
    parts = torch.view_as_real(spectrum)
    batched = parts.dim() == 4
    parts = parts if batched else parts.unsqueeze(0)
    frames = _inverse_dft(parts, n_fft, onesided is not False)
    if normalized:
        frames = frames * math.sqrt(n_fft)
    weights = _padded_window(window, win_length or n_fft, n_fft, frames)
    signal = _overlap_add(frames * weights.unsqueeze(-1), hop)
    envelope = _overlap_add((weights * weights).unsqueeze(-1).expand(frames.shape[1:])[None], hop)
    begin = n_fft // 2 if center else 0
    end = None if length is None else begin + length
    if length is None and center:
        end = -(n_fft // 2)
    signal = signal[:, begin:end] / envelope[:, begin:end]
    if length is not None:  # zeros where the frames end before
        signal = torch.nn.functional.pad(signal, (0, length))[:, :length]
    return signal if batched else signal.squeeze(0)


def _real_signal(*arguments: object, return_complex: bool = False, **_: object) -> bool:
    return not return_complex and not (len(arguments) > 7 and arguments[7])


def _inverse_dft(parts: Tensor, n: int, onesided: bool) -> Tensor:
    """Return real frames [batch, n, count] of a spectrum [batch, bins, count, 2]."""
    bins = n // 2 + 1 if onesided else n
    time = torch.arange(n, device=parts.device).to(torch.float64).unsqueeze(1)
    bin_ = torch.arange(bins, device=parts.device).to(torch.float64)
    # The product of two indices modulo n keeps the angle small, and so exact.
    angle = torch.fmod(time * bin_, n) * (2 * math.pi / n)
    twice = torch.ones_like(bin_)
    if onesided:
        inner = (bin_ > 0) & (bin_ * 2 != n)
        twice = torch.where(inner, 2 * twice, twice)
    cosine = (torch.cos(angle) * twice / n).to(parts.dtype)
    sine = (torch.sin(angle) * twice / n).to(parts.dtype)
    return cosine @ parts[..., 0] - sine @ parts[..., 1]


def _padded_window(window: Tensor | None, length: int, n: int, like: Tensor) -> Tensor:
    weights = like.new_ones(length) if window is None else window.to(like.dtype)
    left = (n - length) // 2
    return torch.nn.functional.pad(weights, (left, n - length - left))


def _overlap_add(frames: Tensor, hop: int) -> Tensor:
    """Add frames [batch, n, count] at every hop-th sample."""
    n = frames.shape[1]
    kernel = torch.eye(n, dtype=frames.dtype, device=frames.device).unsqueeze(1)
    return torch.nn.functional.conv_transpose1d(frames, kernel, stride=hop).squeeze(1)
