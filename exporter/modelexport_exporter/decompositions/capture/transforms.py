"""Fourier transforms of a dynamic length, or cut and padded to another.

A transform of a dynamic length is computed in double precision: for most lengths onnxruntime's DFT
goes by Bluestein's algorithm, whose rounding errors are 20 to 50 times those of torch's.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import (
    Call,
    Replacements,
    Result,
    is_open,
)

CALLS = Replacements()

_WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
_NARROW = {wide: narrow for narrow, wide in _WIDE.items()}


def _transform(
    name: str, function: Call, bins: Callable[[int], int], of_any_length: Call | None = None
) -> None:
    """Register a transform that takes `bins(n)` elements for the length n."""
    compute = of_any_length or function

    @CALLS.replaces(name, function)
    def resize(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Result:
        if not is_open(x.shape[dim]) and not is_open(n):
            return NotImplemented
        if n is not None:
            x = _resize(x, bins(n), dim)
        if n is not None and not is_open(n):
            return function(x, n, dim, norm)
        wide: Tensor = compute(x.to(_WIDE.get(x.dtype, x.dtype)), n, dim, norm)
        return wide.to(_NARROW[wide.dtype]) if x.dtype in _WIDE else wide


def _resize(x: Tensor, size: int, dim: int) -> Tensor:
    """Return x cropped or padded with zeros to the size."""
    shape = list(x.shape)
    shape[dim] = size
    zeros = torch.zeros(shape, dtype=x.dtype, device=x.device)
    return torch.cat([x, zeros], dim).narrow(dim, 0, size)


def _inverse_of_half(
    x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Return torch.fft.irfft(x): ONNX's DFT has no inverse of half a spectrum of any length."""
    length = 2 * (x.shape[dim] - 1) if n is None else n
    if not x.is_complex():
        x = torch.complex(x, torch.zeros_like(x))
    rest = x.narrow(dim, 1, (length + 1) // 2 - 1).conj().flip(dim)
    whole: Tensor = torch.fft.ifft(torch.cat([x, rest], dim), None, dim, norm)
    return whole.real


_transform("fft_fft", torch.fft.fft, lambda n: n)
_transform("fft_ifft", torch.fft.ifft, lambda n: n)
_transform("fft_rfft", torch.fft.rfft, lambda n: n)
_transform("fft_irfft", torch.fft.irfft, lambda n: n // 2 + 1, _inverse_of_half)
_transform("fft_hfft", torch.fft.hfft, lambda n: n // 2 + 1)
