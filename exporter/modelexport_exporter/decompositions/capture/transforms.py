"""Fourier transforms of a dynamic length, or cut and padded to another; of one dim or of several.

A transform of a length that is, or may be, no power of two is computed in double precision:
onnxruntime's DFT goes by Bluestein's algorithm, whose rounding errors are 20 to 50 times those of
torch's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import (
    Call,
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.fft import istft

CALLS = Replacements()
Sizes = Sequence[int] | None

_WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
_NARROW = {wide: narrow for narrow, wide in _WIDE.items()}


def _transform(
    name: str, function: Call, bins: Callable[[int], int], of_any_length: Call | None = None
) -> None:
    """Register a transform that takes `bins(n)` elements for the length n."""
    compute = of_any_length or function

    @CALLS.replaces(name, function)
    def resize(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Result:
        length = _length(function, x.shape[dim], n)
        opened = is_open(x.shape[dim]) or is_open(n)
        if not opened and (x.dtype not in _WIDE or _is_exact(length)):
            return NotImplemented
        if n is not None and opened:
            x = _resize(x, bins(n), dim)
        call = compute if is_open(length) else function
        wide: Tensor = call(x.to(_WIDE.get(x.dtype, x.dtype)), n, dim, norm)
        return wide.to(_NARROW[wide.dtype]) if x.dtype in _WIDE else wide


def _length(function: Call, size: int, n: int | None) -> int:
    """Return the length of a transform of that many elements, or of the stated length."""
    if n is not None:
        return n
    return 2 * (size - 1) if function in (torch.fft.irfft, torch.fft.hfft) else size


def _is_exact(length: int) -> bool:
    """Return whether onnxruntime's transform of that length is as exact as torch's."""
    return not is_open(length) and length & (length - 1) == 0


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


def _transforms(
    name: str, functions: Sequence[Call], last: Call, others: Call, *, last_at_first: bool
) -> None:
    """Register transforms of several dims, as transforms of each; `last`: that of the last one."""
    of_two, of_any = functions

    def compute(x: Tensor, s: Sizes, dim: Sizes, norm: str | None) -> Result:
        dims = _dims_of(x, s, dim)
        if not dims:
            return NotImplemented
        sizes = [
            None if not is_open(size) and size == -1 else size
            for size in (s if s is not None else [-1] * len(dims))
        ]
        steps = [(others, *step) for step in zip(dims[:-1], sizes[:-1], strict=True)]
        steps.insert(0 if last_at_first else len(steps), (last, dims[-1], sizes[-1]))
        lengths = [_length(transform, x.shape[axis], n) for transform, axis, n in steps]
        opened = any(is_open(size) for size in [*lengths, *(x.shape[axis] for axis in dims)])
        if not opened and (x.dtype not in _WIDE or all(map(_is_exact, lengths))):
            return NotImplemented
        wide = x.to(_WIDE.get(x.dtype, x.dtype))
        for transform, axis, n in steps:
            wide = _of_one_dim(transform, wide, n, axis, norm)
        return wide.to(_NARROW[wide.dtype]) if x.dtype in _WIDE else wide

    @CALLS.replaces(f"{name}2", of_two)
    def of_two_dims(
        x: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None
    ) -> Result:
        return compute(x, s, dim, norm)

    @CALLS.replaces(f"{name}n", of_any)
    def of_dims(x: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Result:
        return compute(x, s, dim, norm)


def _dims_of(x: Tensor, s: Sizes, dim: Sizes) -> list[int]:
    """Return the dims that are transformed: by default all, or as many of the last as sizes."""
    if dim is not None:
        return list(dim)
    return list(range(-x.dim() if s is None else -len(s), 0))


def _of_one_dim(function: Call, x: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """Return the transform of one dim, replaced where it has to be."""
    replaced: Tensor = CALLS[function][1](x, n, dim, norm)
    if replaced is not NotImplemented:
        return replaced
    plain: Tensor = function(x, n, dim, norm)
    return plain


_transform("fft_fft", torch.fft.fft, lambda n: n)
_transform("fft_ifft", torch.fft.ifft, lambda n: n)
_transform("fft_rfft", torch.fft.rfft, lambda n: n)
_transform("fft_irfft", torch.fft.irfft, lambda n: n // 2 + 1, _inverse_of_half)
_transform("fft_hfft", torch.fft.hfft, lambda n: n // 2 + 1)

_FULL = (torch.fft.fft2, torch.fft.fftn)
_transforms("fft_fft", _FULL, torch.fft.fft, torch.fft.fft, last_at_first=False)
_INVERSE = (torch.fft.ifft2, torch.fft.ifftn)
_transforms("fft_ifft", _INVERSE, torch.fft.ifft, torch.fft.ifft, last_at_first=False)
_REAL = (torch.fft.rfft2, torch.fft.rfftn)
_transforms("fft_rfft", _REAL, torch.fft.rfft, torch.fft.fft, last_at_first=True)
_TO_REAL = (torch.fft.irfft2, torch.fft.irfftn)
_transforms("fft_irfft", _TO_REAL, torch.fft.irfft, torch.fft.ifft, last_at_first=False)


@CALLS.replaces("stft", torch.stft, Tensor.stft)
def short_time(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Result:
    """Compute one of windows that are no power of two in double precision."""
    if x.dtype not in _WIDE or _is_exact(n_fft):
        return NotImplemented
    wide_window = None if window is None else window.to(_WIDE.get(window.dtype, window.dtype))
    wide: Tensor = torch.stft(
        x.to(_WIDE[x.dtype]),
        n_fft,
        hop_length,
        win_length,
        wide_window,
        center,
        pad_mode,
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )
    return wide.to(_NARROW[wide.dtype])


@CALLS.replaces("istft", torch.istft, Tensor.istft)
def short_time_inverse(
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
) -> Result:
    """Replace one of any number of frames: torch's fixes it where it compares sizes."""
    if return_complex or not any(is_open(size) for size in [*spectrum.shape, length]):
        return NotImplemented
    return istft(
        spectrum, n_fft, hop_length, win_length, window, center, normalized, onesided, length
    )
