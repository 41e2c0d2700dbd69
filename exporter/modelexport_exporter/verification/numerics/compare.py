"""Whether two arrays are the same output: pure, on numpy arrays, without broadcasting.

Integers and booleans are equal or wrong. Floating-point numbers may differ by the tolerance, or by
a multiple of the noise that the model has by itself; NaN and infinities must be at the same places.
Elements that the model's own rounding changes altogether do not count, up to a share of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.core.types import OutputComparison
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate, Settled
from modelexport_exporter.verification.numerics.tolerance import Tolerance

Array = NDArray[Any]
BLOCK = 1 << 20
MAX_UNSETTLED = 0.1
"""With a larger share of unsettled elements a sample tells nothing about an output."""
EXPLAINED = 4
"""One differing element is explained by so many unsettled ones beside those that were found.

Runs with other roundings find the elements that hang on rounding by chance: of those that flip in
half of all runs, eight runs miss one in 256; of those that flip seldom, more.
"""


@dataclass(frozen=True)
class _Difference:
    """What a pass over two arrays found."""

    errors: int
    """Elements beyond the limit, masks that differ included."""
    max_error: float
    worst: int
    """Flat index of the element that is told about: a differing mask before the largest error."""
    masks_differ: bool


def is_float(dtype: np.dtype[Any]) -> bool:
    """Tell whether a dtype holds floating-point numbers; numpy itself does not know bfloat16."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def peak_of(array: Array) -> float:
    """Return the largest finite magnitude of an array, 0 when there is none."""
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
) -> OutputComparison:
    """Compare an output of the artifact with eager's.

    The errors are over the elements that can be compared: settled, finite in both; none where shape
    or dtype differ. `ordinary_peak`: the output's peak on ordinary inputs, where these are
    degenerate. Zeros and constants make what is centred or normalised vanish; its rounding noise is
    no error. `spread`: how far the output moves by the model's own rounding, if that is known.
    """
    mismatch = _different_kind(expected, got)
    if mismatch:
        only = "dtype" if expected.dtype != got.dtype else "shape"
        found = OutputComparison(name, 0.0, 0.0, 0.0, mismatch, only)
        reshaped = estimate is not None and estimate.reshaped and only == "shape"
        return _inconclusive(found, "its shape changes with rounding") if reshaped else found
    if not is_float(expected.dtype):
        settled = estimate.settled(0.0) if estimate else Settled(0.0, None)
        return _judged(_compare_exactly(name, expected, got, settled), settled, expected.size)
    peak = peak_of(expected)
    scale = max(peak, ordinary_peak)
    settled = estimate.settled(tolerance.unsettled_from * scale) if estimate else Settled(0.0, None)
    limit = max(tolerance.limit(scale), tolerance.multiple * settled.noise)
    difference = _float_difference(expected, got, limit, settled.unsettled)
    problem = _describe(expected, got, difference, limit) if difference.errors else ""
    only = "NaN and infinities" if difference.masks_differ and difference.max_error <= limit else ""
    compared = OutputComparison(
        name,
        difference.max_error,
        _relative(difference.max_error, scale),
        limit,
        problem,
        only,
        noise=_relative(settled.noise, scale) if estimate and estimate.runs else None,
        errors=difference.errors,
    )
    return _judged(compared, settled, expected.size)


def _judged(compared: OutputComparison, settled: Settled, size: int) -> OutputComparison:
    """Return the comparison in the light of the elements that are unsettled."""
    count = settled.count
    if not count:
        return compared
    compared = replace(compared, unsettled=count)
    if count > size * MAX_UNSETTLED:
        share = f"{count} of {size} elements change with rounding"
        return _inconclusive(compared, share)
    if compared.errors <= count // EXPLAINED:
        return replace(compared, problem="", only="")
    return compared


def _inconclusive(compared: OutputComparison, why: str) -> OutputComparison:
    return replace(compared, problem="", only="", inconclusive=why)


def _different_kind(expected: Array, got: Array) -> str:
    if expected.dtype != got.dtype:
        return f"dtype is {got.dtype.name}, eager returns {expected.dtype.name}"
    if expected.shape != got.shape:
        return f"shape is {list(got.shape)}, eager returns {list(expected.shape)}"
    return ""


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
    problem = _describe(expected, got, _Difference(count, error, worst, masks_differ=False), 0.0)
    return OutputComparison(name, error, _relative(error, peak), 0.0, problem, errors=count)


def _relative(error: float, peak: float) -> float:
    """Return a finite number, because reports are JSON: 1 for any error in an output of zeros."""
    if not peak:
        return 1.0 if error else 0.0
    return min(error / peak, sys.float_info.max)


def _some_pairs(expected: Array, got: Array, different: Array) -> Iterator[tuple[Any, Any]]:
    """Yield differing pairs as Python numbers, which do not wrap; 100,000 of them tell enough."""
    places = np.flatnonzero(different)[:100_000]
    yield from zip(expected.flat[places].tolist(), got.flat[places].tolist(), strict=True)


def _blocks(array: Array) -> Iterator[tuple[int, Array]]:
    """Yield (offset, a float64 copy of the elements there) in the order of the flat array."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield start, flat[start : start + BLOCK].astype(np.float64)


def _float_difference(
    expected: Array, got: Array, limit: float, unsettled: Array | None
) -> _Difference:
    errors, max_error, worst, worst_mask = 0, 0.0, 0, -1
    for (start, want), (_, have) in zip(_blocks(expected), _blocks(got), strict=True):
        unlike = _masks_differ(want, have)
        both_finite = np.isfinite(want) & np.isfinite(have)
        if unsettled is not None:
            skipped = unsettled[start : start + want.size]
            unlike &= ~skipped
            both_finite &= ~skipped
        error = np.where(both_finite, np.abs(_subtract(want, have, both_finite)), 0.0)
        errors += int(np.count_nonzero(unlike | (error > limit)))
        if worst_mask < 0 and unlike.any():
            worst_mask = start + int(np.argmax(unlike))
        if float(error.max()) > max_error:
            max_error, worst = float(error.max()), start + int(np.argmax(error))
    max_error = min(max_error, sys.float_info.max)
    if worst_mask >= 0:
        return _Difference(errors, max_error, worst_mask, masks_differ=True)
    return _Difference(errors, max_error, worst, masks_differ=False)


def _masks_differ(want: Array, have: Array) -> Array:
    unlike: Array = np.isnan(want) != np.isnan(have)
    infinite = np.isinf(want) | np.isinf(have)
    unlike |= infinite & ~np.isnan(want) & ~np.isnan(have) & (want != have)
    return unlike


def _subtract(want: Array, have: Array, where: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.subtract(want, have, out=np.zeros_like(want), where=where)


def _describe(expected: Array, got: Array, found: _Difference, limit: float) -> str:
    index = [int(i) for i in np.unravel_index(found.worst, expected.shape)]
    have, want = got.flat[found.worst], expected.flat[found.worst]
    place = f"at {index} " if index else ""
    text = f"{place}got {_number(have)}, eager returns {_number(want)}"
    if is_float(expected.dtype) and not found.masks_differ:
        text += f" (off by {found.max_error:.3g}, allowed {limit:.3g})"
    if expected.size > 1:
        text += f"; {found.errors} of {expected.size} elements differ"
    return text


def _number(value: np.generic) -> str:
    return f"{float(value):.9g}" if is_float(value.dtype) else str(value.item())
