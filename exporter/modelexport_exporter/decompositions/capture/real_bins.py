"""The frequencies at which the spectrum of real numbers is real: 0, and half of an even length.

Eager's imaginary part is an exact zero there. onnxruntime's is a rounding error of any sign, and
the phase of a negative number is pi or -pi by that sign. So is that of a spectrum of zeros, which
onnxruntime returns as -0 where the length is no power of two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor


def with_real_bins(spectrum: Tensor, lengths: Mapping[int, int], zero: float) -> Tensor:
    """Return a complex spectrum whose imaginary part is `zero`, 0.0 or -0.0, where it is real.

    `lengths`: of the transform, by dim of the spectrum. With several dims, a frequency is real
    that is so in each.
    """
    real_bins = None
    for dim, length in lengths.items():
        bins = torch.arange(spectrum.shape[dim], device=spectrum.device)
        shape = [1] * spectrum.dim()
        shape[dim] = -1
        own = ((bins == 0) | (2 * bins == length)).reshape(shape)
        real_bins = own if real_bins is None else real_bins & own
    assert real_bins is not None, "a transform has a dim"
    # Not `.imag`: of a conjugated tensor it is a view whose bit says that it is negated.
    real, imaginary = torch.view_as_real(spectrum.resolve_conj()).unbind(-1)
    real = torch.where(real == 0, 0.0, real)
    if math.copysign(1.0, zero) > 0:
        return torch.complex(real, torch.where(real_bins, 0.0, imaginary))
    # Negated twice: onnxscript makes one constant of 0.0 and -0.0, which are equal.
    return torch.complex(real, -torch.where(real_bins, 0.0, -imaginary))
