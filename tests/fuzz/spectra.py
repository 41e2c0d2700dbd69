"""Fourier transforms with another rounding: one of the whole spectrum."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

TRANSFORM = "_fft_"
"""How the names of transforms begin."""


def moved_spectrum(spectrum: Tensor, dims: Sequence[int], generator: torch.Generator) -> Tensor:
    """Return results that are off by a quarter of a unit of their root mean square over the dims.

    Zeros stay: the imaginary part where a spectrum of real numbers is real is an exact one.
    """
    if not spectrum.numel():
        return spectrum
    size = spectrum.abs().square().mean(list(dims), keepdim=True).sqrt()
    if spectrum.is_complex():
        parts = torch.view_as_real(spectrum.resolve_conj()).contiguous()
        return torch.view_as_complex(_moved(parts, size.unsqueeze(-1), generator))
    return _moved(spectrum, size, generator)


def _moved(parts: Tensor, size: Tensor, generator: torch.Generator) -> Tensor:
    steps = torch.randint(-1, 2, parts.shape, generator=generator)
    other = parts + steps * (torch.finfo(parts.dtype).eps / 4 * size)
    return torch.where(parts == 0, parts, other)
