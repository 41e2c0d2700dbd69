"""Compares two arrays as one output: pure, on numpy arrays, without broadcasting.

Integers and booleans must be equal. Floating-point numbers may differ by the tolerance, or by a
multiple of the model's own rounding error; NaN and infinities must be at the same positions.
Elements that the model's own rounding changes altogether do not count, up to MAX_UNSETTLED of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.core.comparison import OutputComparison, Problem, ProblemKind
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate, Settled
from modelexport_exporter.verification.numerics.slices import Slices
from modelexport_exporter.verification.numerics.tolerance import Tolerance

Array = NDArray[Any]
BLOCK = 1 << 20
MAX_UNSETTLED = 0.1
"""With a larger share of unsettled elements a sample is inconclusive for an output."""
EXPLAINED = 4
"""One differing element is excused for so many unsettled ones that were found.

Runs in perturbed arithmetic find the elements that depend on rounding by chance: of those that flip
in half of all runs, eight runs miss one in 256; of those that flip seldom, more.
"""
KERNELS, MOST_FLOORS = 2.0, 16.0
"""An output may be off by so many times the absolute errors of kernels, up to so many floors."""
FAR = 100
"""Rounding explains no error of so many times what it moves any element of the output.

Where rounding decides (a rank, a side of a branch, a quotient of two small numbers), it moves some
element about as far as the file differs.
"""


@dataclass(frozen=True)
class _Difference:
    """The differences between two arrays."""

    errors: int
    """Number of elements beyond the limit, or not finite in one array only."""
    max_error: float
    worst: int
    """Flat index of the element to report: the first one that is not finite in one array only, or
    else the one whose error is the largest share of its limit."""
    masks_differ: bool
    limit: float = 0.0
    """The limit of that element, or of the output."""


@dataclass(frozen=True)
class _Limits:
    """The absolute limit of an output, and of its slices where they have their own."""

    limit: float
    shape: tuple[int, ...]
    slices: Slices | None = None
    of_slices: Array | None = None

    def block(self, start: int, stop: int) -> Array | float:
        """Return the limits of the elements [start, stop) of the flat output."""
        if self.slices is None or self.of_slices is None:
            return self.limit
        return np.asarray(self.of_slices[self.slices.of_flat(self.shape, start, stop)])

    def at(self, place: int) -> float:
        """Return the limit of an element of the flat output."""
        return float(np.asarray(self.block(place, place + 1)).reshape(-1)[0])

    def scale_at(self, place: int, scale: float) -> float:
        """Return the scale of an element's slice; `scale`: of the whole output."""
        if self.slices is None:
            return scale
        return float(self.slices.scales[self.slices.of_flat(self.shape, place, place + 1)][0])


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is floating-point; bfloat16 is not one of numpy's own."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def peak_of(array: Array) -> float:
    """Return the largest finite magnitude of an array; 0 if there is none."""
    peak = 0.0
    for _, block in _blocks(array):
        magnitudes = np.abs(block)
        magnitudes[~np.isfinite(magnitudes)] = 0
        peak = max(peak, float(magnitudes.max()))
    return peak


def compare_output(
    name: str,
    expected: Array,
    got: Array,
    tolerance: Tolerance,
    *,
    ordinary_peak: float = 0.0,
    estimate: NoiseEstimate | None = None,
    slices: Slices | None = None,
) -> OutputComparison:
    """Compare an output of the artifact with eager's.

    Errors are over the elements that can be compared (settled, finite in both arrays), and 0 where
    shape or dtype differ.

    `ordinary_peak`: the output's peak on ordinary inputs, where these are degenerate: zeros and
    constants make what is centred or normalised vanish, and leave rounding error only. `estimate`:
    the model's own rounding error, if it was measured. `slices`: of which each has its own limit.
    """
    if not expected.size and expected.shape == got.shape and expected.dtype == got.dtype:
        return OutputComparison(name, 0.0, 0.0, 0.0, has_elements=False)
    mismatch = _compare_type(expected, got)
    if mismatch:
        found = OutputComparison(name, 0.0, 0.0, 0.0, mismatch)
        if estimate is not None and estimate.reshaped and mismatch.kind is ProblemKind.SHAPE:
            return _make_inconclusive(found, "its shape changes with rounding")
        return found
    if not is_float(expected.dtype):
        settled = estimate.settled(0.0) if estimate else Settled(0.0, None)
        exact = _compare_exactly(name, expected, got, settled)
        return _apply_unsettled(exact, settled, expected.size)
    peak = peak_of(expected)
    scale = max(peak, ordinary_peak)
    settled = estimate.settled(tolerance.unsettled_from * scale) if estimate else Settled(0.0, None)
    if settled.count and _largest_error(expected, got) > FAR * settled.farthest:
        settled = replace(settled, unsettled=None)
    limit = max(tolerance.limit(scale), tolerance.multiple * settled.noise)
    if estimate is not None:
        kernels = KERNELS * estimate.kernel_noise(settled)
        limit = max(limit, min(kernels, MOST_FLOORS * tolerance.limit(scale)))
    limits = _Limits(limit, expected.shape)
    if slices is not None:
        noises = _noises(slices, estimate, settled)
        own = np.maximum(
            tolerance.atol + tolerance.rtol * slices.scales, tolerance.multiple * noises
        )
        limits = _Limits(limit, expected.shape, slices, np.minimum(own, limit))
    difference = _float_difference(expected, got, limits, settled.unsettled)
    compared = OutputComparison(
        name,
        difference.max_error,
        _relative(difference.max_error, limits.scale_at(difference.worst, scale)),
        difference.limit,
        _describe(expected, got, difference),
        noise=_relative(settled.noise, scale) if estimate and estimate.runs else None,
        errors=difference.errors,
        all_nan=not peak and bool(np.isnan(expected).all() and np.isnan(got).all()),
    )
    return _apply_unsettled(compared, settled, expected.size)


def _noises(slices: Slices, estimate: NoiseEstimate | None, settled: Settled) -> Array:
    """Return the noise of each slice, of this sample and of earlier ones."""
    if estimate is None:
        return slices.noises_with(np.zeros(slices.scales.size), 0)
    own = estimate.noise_along(slices.axis, settled)
    return slices.noises_with(own, estimate.elements_along(slices.axis))


def _apply_unsettled(compared: OutputComparison, settled: Settled, size: int) -> OutputComparison:
    """Return the comparison, its errors excused where enough elements are unsettled."""
    count = settled.count
    if not count:
        return compared
    compared = replace(compared, unsettled=count)
    if count > size * MAX_UNSETTLED:
        share = f"{count} of {size} elements change with rounding"
        return _make_inconclusive(compared, share)
    if compared.errors <= count // EXPLAINED:
        # What is excused is no error of the headline.
        error = min(compared.max_abs_error, compared.limit)
        relative = compared.max_rel_error * error / (compared.max_abs_error or 1.0)
        return replace(compared, problem=None, max_abs_error=error, max_rel_error=relative)
    return compared


def _make_inconclusive(compared: OutputComparison, why: str) -> OutputComparison:
    return replace(compared, problem=None, inconclusive=why)


def _compare_type(expected: Array, got: Array) -> Problem | None:
    if expected.dtype != got.dtype:
        text = f"dtype is {got.dtype.name}, eager returns {expected.dtype.name}"
        return Problem(ProblemKind.DTYPE, text)
    if expected.shape != got.shape:
        text = f"shape is {list(got.shape)}, eager returns {list(expected.shape)}"
        return Problem(ProblemKind.SHAPE, text)
    return None


def _compare_exactly(name: str, expected: Array, got: Array, settled: Settled) -> OutputComparison:
    different = expected != got
    if settled.unsettled is not None:
        different &= ~settled.unsettled.reshape(expected.shape)
    count = int(np.count_nonzero(different))
    if not count:
        return OutputComparison(name, 0.0, 0.0, 0.0)
    errors = [abs(int(e) - int(g)) for e, g in _some_pairs(expected, got, different)]
    worst = int(np.flatnonzero(different)[0])
    error = float(max(errors))
    peak = max(abs(int(expected.min())), abs(int(expected.max())))
    problem = _describe(expected, got, _Difference(count, error, worst, masks_differ=False))
    return OutputComparison(name, error, _relative(error, peak), 0.0, problem, errors=count)


def _relative(error: float, peak: float) -> float:
    """Return a finite number, because reports are JSON: 1 for any error in an output of zeros."""
    if not peak:
        return 1.0 if error else 0.0
    return min(error / peak, sys.float_info.max)


def _some_pairs(expected: Array, got: Array, different: Array) -> Iterator[tuple[Any, Any]]:
    """Yield up to 100,000 differing pairs as Python numbers, which do not overflow."""
    places = np.flatnonzero(different)[:100_000]
    yield from zip(expected.flat[places].tolist(), got.flat[places].tolist(), strict=True)


def _blocks(array: Array) -> Iterator[tuple[int, Array]]:
    """Yield (offset, a float64 copy of the elements there) in the order of the flat array."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield start, flat[start : start + BLOCK].astype(np.float64)


def _float_difference(
    expected: Array, got: Array, limits: _Limits, unsettled: Array | None
) -> _Difference:
    errors, max_error, worst, worst_mask, largest_share = 0, 0.0, 0, -1, 0.0
    for (start, want), (_, have) in zip(_blocks(expected), _blocks(got), strict=True):
        unlike = _masks_differ(want, have)
        both_finite = np.isfinite(want) & np.isfinite(have)
        if unsettled is not None:
            skipped = unsettled[start : start + want.size]
            unlike &= ~skipped
            both_finite &= ~skipped
        error = np.where(both_finite, np.abs(_subtract(want, have, both_finite)), 0.0)
        limit = limits.block(start, start + want.size)
        errors += int(np.count_nonzero(unlike | (error > limit)))
        if worst_mask < 0 and unlike.any():
            worst_mask = start + int(np.argmax(unlike))
        with np.errstate(over="ignore"):  # where the limit is 0
            shares = error / np.maximum(limit, sys.float_info.min)
        if float(shares.max()) > largest_share:
            largest_share, place = float(shares.max()), int(np.argmax(shares))
            max_error, worst = float(error[place]), start + place
    max_error = min(max_error, sys.float_info.max)
    if worst_mask >= 0:
        return _Difference(errors, max_error, worst_mask, True, limits.limit)
    limit = limits.at(worst) if expected.size else limits.limit
    return _Difference(errors, max_error, worst, False, limit)


def _largest_error(expected: Array, got: Array) -> float:
    """Return the largest error of any element; infinite where only one is finite."""
    largest = 0.0
    for (_, want), (_, have) in zip(_blocks(expected), _blocks(got), strict=True):
        if _masks_differ(want, have).any():
            return math.inf
        finite = np.isfinite(want) & np.isfinite(have)
        error = np.abs(_subtract(want, have, finite))
        largest = max(largest, float(error.max(initial=0.0)))
    return largest


def _masks_differ(want: Array, have: Array) -> Array:
    unlike: Array = np.isnan(want) != np.isnan(have)
    infinite = np.isinf(want) | np.isinf(have)
    unlike |= infinite & ~np.isnan(want) & ~np.isnan(have) & (want != have)
    return unlike


def _subtract(want: Array, have: Array, where: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.subtract(want, have, out=np.zeros_like(want), where=where)


def _describe(expected: Array, got: Array, found: _Difference) -> Problem | None:
    if not found.errors:
        return None
    index = [int(i) for i in np.unravel_index(found.worst, expected.shape)]
    have, want = got.flat[found.worst], expected.flat[found.worst]
    place = f"at {index} " if index else ""
    text = f"{place}got {_format_number(have)}, eager returns {_format_number(want)}"
    if is_float(expected.dtype) and not found.masks_differ:
        text += f" (off by {found.max_error:.3g}, allowed {found.limit:.3g})"
    if expected.size > 1:
        text += f"; {found.errors} of {expected.size} elements differ"
    not_finite = found.masks_differ and found.max_error <= found.limit
    return Problem(ProblemKind.NOT_FINITE if not_finite else ProblemKind.VALUES, text)


def _format_number(value: np.generic) -> str:
    return f"{float(value):.9g}" if is_float(value.dtype) else str(value.item())
