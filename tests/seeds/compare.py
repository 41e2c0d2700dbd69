"""Whether an artifact's output is eager's: the tests' own judgement, stricter than the product's.

The limit is relative to each element and to the typical magnitude of its output, not to the peak:
small values next to large ones must be right, too. Where an output reduces its input, the sum of n
terms may cancel to nearly nothing, and what is left is the rounding of its terms: it may be off by
eps * (largest input) * sqrt(n), the random walk of n roundings. An output that reduces nothing has
no such allowance.
"""

from __future__ import annotations

import math

import numpy as np

from seeds.case import Array, Feed


def cancellation(feed: Feed, want: Array) -> float:
    """Return the absolute error that an output may have because it sums parts of the feed."""
    floats = [values for values in feed.values() if values.dtype.kind == "f" and values.size]
    if want.dtype.kind != "f" or not want.size or not floats:
        return 0.0
    terms = max(values.size for values in floats) / want.size
    if terms <= 1:
        return 0.0
    finite = [values[np.isfinite(values)].astype(np.float64) for values in floats]
    peak = max(float(np.abs(values).max(initial=0.0)) for values in finite)
    return float(np.finfo(want.dtype).eps) * peak * math.sqrt(terms)


def difference(want: Array, have: Array, rtol: float, slack: float = 0.0) -> tuple[str, float]:
    """Return what differs, empty if nothing does, and the largest error relative to its scale.

    `slack`: an absolute error that is no difference.
    """
    if want.dtype != have.dtype:
        return f"dtype {have.dtype}, eager {want.dtype}", 0.0
    if want.shape != have.shape:
        return f"shape {have.shape}, eager {want.shape}", 0.0
    if want.dtype.kind != "f":
        wrong = int(np.count_nonzero(want != have))
        if not wrong:
            return "", 0.0
        return f"{wrong} of {want.size} elements differ; {_worst(want, have)}", 1.0
    limit = np.maximum(_limit(want, rtol), slack)
    return _floats(want.astype(np.float64), have.astype(np.float64), limit, rtol)


def _limit(want: Array, rtol: float) -> Array:
    floor = {"float16": 2e-2}.get(want.dtype.name, 0.0)
    magnitudes = np.abs(want.astype(np.float64))
    ordinary = magnitudes[np.isfinite(magnitudes) & (magnitudes > 0)]
    typical = float(np.median(ordinary)) if ordinary.size else 0.0
    return np.asarray(max(rtol, floor) * (np.nan_to_num(magnitudes, posinf=0.0) + typical))


def _floats(want: Array, have: Array, limit: Array, rtol: float) -> tuple[str, float]:
    both = np.isfinite(want) & np.isfinite(have)
    same = (np.isnan(want) & np.isnan(have)) | (want == have)
    with np.errstate(all="ignore"):
        error = np.where(both, np.abs(want - have), np.where(same, 0.0, np.inf))
        scaled = np.where(error > 0, error / np.maximum(limit, 1e-300) * rtol, 0.0)
    worst = float(scaled.max(initial=0.0))
    wrong = error > np.maximum(limit, 1e-37)
    if not wrong.any():
        return "", worst
    place = np.unravel_index(int(np.argmax(np.where(wrong, scaled, -1.0))), want.shape)
    return (
        f"{np.count_nonzero(wrong)} of {want.size} elements differ; at "
        f"{[int(i) for i in place]} got {have[place]:.9g}, eager {want[place]:.9g}"
    ), worst


def _worst(want: Array, have: Array) -> str:
    place = tuple(int(i) for i in np.argwhere(want != have)[0])
    return f"at {list(place)} got {have[place]}, eager {want[place]}"
