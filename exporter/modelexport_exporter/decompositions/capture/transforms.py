"""Fourier transforms of a dynamic length, or cut and padded to another; of one dim or of several.

Two kinds of transforms are computed in double precision, in which onnxruntime's DFT takes as long
as in single, up to a length of 1,024 (2.7 times as long at 4,096):

- of a length that is, or may be, no power of two: it goes by Bluestein's algorithm there, whose
  rounding errors are 20 to 50 times those of torch's,
- of real numbers, whose phase is often taken: its errors are 2 to 6 times those of torch's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.real_bins import with_real_bins
from modelexport_exporter.decompositions.capture.registry import (
    Call,
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.dtypes import as_floats
from modelexport_exporter.decompositions.ops.fft import istft

CALLS = Replacements()
Sizes = Sequence[int] | None

_WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
_NARROW = {wide: narrow for narrow, wide in _WIDE.items()}
_TO_REAL_NUMBERS = (torch.fft.irfft, torch.fft.hfft)


def _transform(
    name: str,
    function: Call,
    bins: Callable[[int], int],
    of_any_length: Call | None = None,
    zero: float | None = None,
) -> None:
    """Register a transform that takes `bins(n)` elements for the length n.

    `zero`: eager's imaginary part where the transform of real numbers is real.
    """
    compute = of_any_length or function

    @CALLS.replaces(name, function)
    def resize(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Result:
        x = as_floats(x)
        length = _length(function, x.shape[dim], n)
        opened = is_open(x.shape[dim]) or is_open(n)
        imaginary = None if x.is_complex() else zero
        halved = of_any_length is not None and _is_rounded(x, length)
        exact = x.dtype not in _WIDE or _is_exact(length)
        if imaginary is None and not opened and exact and not halved:
            return NotImplemented
        if n is not None and (opened or halved):
            x = _resize(x, bins(n), dim)
        call = compute if is_open(length) or halved else function
        spectrum = _narrowed(call(_widened(x), n, dim, norm), x)
        if imaginary is None:
            return spectrum
        return with_real_bins(spectrum, {dim: length}, imaginary)


def _widened(x: Tensor) -> Tensor:
    return x.to(_WIDE.get(x.dtype, x.dtype))


def _narrowed(wide: Tensor, x: Tensor) -> Tensor:
    """Return what was computed from the widened x in single precision, if x has it."""
    return wide.to(_NARROW[wide.dtype]) if x.dtype in _WIDE else wide


def _length(function: Call, size: int, n: int | None) -> int:
    """Return the length of a transform of that many elements, or of the stated length."""
    if n is not None:
        return n
    return 2 * (size - 1) if function in _TO_REAL_NUMBERS else size


def _is_exact(length: int) -> bool:
    """Return whether onnxruntime's transform of that length has errors like torch's."""
    return not is_open(length) and length & (length - 1) == 0


def _is_rounded(x: Tensor, length: int) -> bool:
    """Return whether onnxruntime rounds a transform of float64 to real numbers.

    It divides by the length as float32. `exact_kernels` has the transforms of whole spectra.
    """
    return x.dtype in _NARROW and not _is_exact(length)


def _resize(x: Tensor, size: int, dim: int) -> Tensor:
    """Return x cropped or padded with zeros to the size."""
    shape = list(x.shape)
    shape[dim] = size
    zeros = torch.zeros(shape, dtype=x.dtype, device=x.device)
    return torch.cat([x, zeros], dim).narrow(dim, 0, size)


def _of_half(transform: Call) -> Call:
    """Return a transform to real numbers, by one of the whole spectrum.

    ONNX's DFT has none of half a spectrum of any length.
    """

    def compute(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        length = 2 * (x.shape[dim] - 1) if n is None else n
        if not x.is_complex():
            x = torch.complex(x, torch.zeros_like(x))
        rest = x.narrow(dim, 1, (length + 1) // 2 - 1).conj().flip(dim)
        half = x.narrow(dim, 0, length // 2 + 1)
        whole: Tensor = transform(torch.cat([half, rest], dim), None, dim, norm)
        return whole.real

    return compute


def _transforms(
    name: str,
    functions: Sequence[Call],
    last: Call,
    others: Call,
    *,
    last_at_first: bool,
    zero: float | None = None,
) -> None:
    """Register transforms of several dims, as transforms of each; `last`: that of the last one.

    `zero`: as for a transform of one dim.
    """
    of_two, of_any = functions

    def compute(x: Tensor, s: int | Sizes, dim: int | Sizes, norm: str | None) -> Result:
        x, s, dim = as_floats(x), _several(s), _several(dim)
        dims = _dims_of(x, s, dim)
        if not dims:
            return NotImplemented
        sizes = [
            None if not is_open(size) and size == -1 else size
            for size in (s if s is not None else [-1] * len(dims))
        ]
        steps = [(others, *step) for step in zip(dims[:-1], sizes[:-1], strict=True)]
        steps.insert(0 if last_at_first else len(steps), (last, dims[-1], sizes[-1]))
        lengths = {axis: _length(transform, x.shape[axis], n) for transform, axis, n in steps}
        opened = any(is_open(size) for size in (*lengths.values(), *(x.shape[d] for d in dims)))
        imaginary = None if x.is_complex() else zero
        exact = x.dtype not in _WIDE or all(map(_is_exact, lengths.values()))
        rounded = last in _TO_REAL_NUMBERS and _is_rounded(x, lengths[dims[-1]])
        if imaginary is None and not opened and exact and not rounded:
            return NotImplemented
        if opened or rounded or x.dtype in _WIDE:
            wide = _widened(x)
            for transform, axis, n in steps:
                wide = _of_one_dim(transform, wide, n, axis, norm)
            spectrum = _narrowed(wide, x)
        else:
            spectrum = of_any(x, s, dim, norm)
        if imaginary is None:
            return spectrum
        return with_real_bins(spectrum, lengths, imaginary)

    @CALLS.replaces(f"{name}2", of_two)
    def of_two_dims(
        x: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None
    ) -> Result:
        return compute(x, s, dim, norm)

    @CALLS.replaces(f"{name}n", of_any)
    def of_dims(x: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Result:
        return compute(x, s, dim, norm)


def _several(sizes: int | Sizes) -> Sizes:
    """Return a list of one for a number: torch takes both."""
    return sizes if sizes is None or isinstance(sizes, (list, tuple)) else [cast("int", sizes)]


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


_transform("fft_fft", torch.fft.fft, lambda n: n, zero=0.0)
_transform("fft_ifft", torch.fft.ifft, lambda n: n, zero=-0.0)
_transform("fft_rfft", torch.fft.rfft, lambda n: n, zero=0.0)
_transform("fft_irfft", torch.fft.irfft, lambda n: n // 2 + 1, _of_half(torch.fft.ifft))
_transform("fft_hfft", torch.fft.hfft, lambda n: n // 2 + 1, _of_half(torch.fft.fft))
_transform("fft_ihfft", torch.fft.ihfft, lambda n: n, zero=-0.0)

_FULL = (torch.fft.fft2, torch.fft.fftn)
_transforms("fft_fft", _FULL, torch.fft.fft, torch.fft.fft, last_at_first=False, zero=0.0)
_INVERSE = (torch.fft.ifft2, torch.fft.ifftn)
_transforms("fft_ifft", _INVERSE, torch.fft.ifft, torch.fft.ifft, last_at_first=False, zero=-0.0)
_REAL = (torch.fft.rfft2, torch.fft.rfftn)
_transforms("fft_rfft", _REAL, torch.fft.rfft, torch.fft.fft, last_at_first=True, zero=0.0)
_TO_REAL = (torch.fft.irfft2, torch.fft.irfftn)
_transforms("fft_irfft", _TO_REAL, torch.fft.irfft, torch.fft.ifft, last_at_first=False)
_OF_HALF = (torch.fft.hfft2, torch.fft.hfftn)
_transforms("fft_hfft", _OF_HALF, torch.fft.hfft, torch.fft.fft, last_at_first=False)
_TO_HALF = (torch.fft.ihfft2, torch.fft.ihfftn)
_transforms("fft_ihfft", _TO_HALF, torch.fft.ihfft, torch.fft.ifft, last_at_first=True)


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
    """Compute it in double precision, but complex windows of a power of two."""
    if x.dtype not in _WIDE or (x.is_complex() and _is_exact(n_fft)):
        return NotImplemented
    wide: Tensor = torch.stft(
        _widened(x),
        n_fft,
        hop_length,
        win_length,
        None if window is None else _widened(window),
        center,
        pad_mode,
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )
    spectrum = _narrowed(wide, x)
    if x.is_complex() or (window is not None and window.is_complex()):
        return spectrum
    if spectrum.is_complex():
        return with_real_bins(spectrum, {-2: n_fft}, 0.0)
    return torch.view_as_real(with_real_bins(torch.view_as_complex(spectrum), {-2: n_fft}, 0.0))


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
