"""Whether a mutant computes something else, decided without the verification.

The original file and the mutated one run in onnxruntime on the same many inputs (`draws`). A mutant
counts if, somewhere, an output differs by more than the noise that the model has by itself: the
distance of eager PyTorch to the same model in float64 and with its results rounded at random.
Elements that this noise changes altogether (an argmax over equal scores) never count.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate, Settled
from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    PerturbedArithmeticUnavailable,
)
from modelexport_exporter.verification.numerics.tolerance import FLOORS, MULTIPLE, UNSETTLED
from modelexport_exporter.verification.reference import EagerReference

Array = NDArray[Any]
RUNS = 2
"""With other roundings: in float64, then rounded at random."""
_ULPS = {"float64": 64}
"""A float64 model has no wider type to estimate its noise with: its last digits count as noise."""
ALWAYS = float("inf")
"""The excess of what no noise explains: another shape, another integer, a failure."""


@dataclass(frozen=True)
class Noise:
    """What the model does to one output on one input by its own rounding."""

    limit: float
    unsettled: Array | None
    allowed: float = 0.0
    """What the verdict lets a right file err: a multiple of the noise, or the type's floor."""


@dataclass(frozen=True)
class Case:
    """One input, what the original file returns, and its noise."""

    feed: dict[str, Array]
    outputs: list[Array]
    noise: list[Noise]


@dataclass(frozen=True)
class Change:
    """How far a mutant goes, at the input where it goes farthest."""

    excess: float
    """Times the noise; 1 or less: no other model."""
    error: float = 0.0
    """The absolute difference there."""
    shows: float = 0.0
    """The share of the inputs at which it exceeds the noise."""
    where: str = ""
    beyond: float = ALWAYS
    """A multiple of the error that a right file may have; at 1 or less no test separates them."""


class InvalidMutant(Exception):  # noqa: N818 - an answer, not a defect
    """A file that does not load, or fails on the inputs of the export: nobody would miss it."""


def open_session(path: Path | bytes) -> Any:  # noqa: ANN401
    """Return an onnxruntime session on the CPU, without its warnings."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    source = path if isinstance(path, bytes) else str(path)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def run(session: Any, feed: Mapping[str, Array]) -> list[Array]:  # noqa: ANN401
    """Return the outputs; inputs that the file dropped are left out."""
    taken = {entry.name: feed[entry.name] for entry in session.get_inputs()}
    return [np.asarray(value) for value in session.run(None, taken)]


def cases_of(
    session: Any,  # noqa: ANN401
    reference: EagerReference,
    feeds: Sequence[dict[str, Array]],
) -> list[Case]:
    """Return what the original does, with the noise: an input's own, or the model's ordinary one.

    The noise relative to the peak is taken over all inputs, as one input is one draw of it.
    """
    settled: list[tuple[dict[str, Array], list[Array], list[Settled], list[float]]] = []
    for feed in feeds:
        expected = reference.run(feed, "an input of the tests")
        estimates = [NoiseEstimate(array) for array in expected]
        for results in _other_results(reference, feed):
            for estimate, own in zip(estimates, results, strict=True):
                estimate.add(own)
        peaks = [_peak(array) for array in expected]
        parts = [
            estimate.settled(_bound(array, peak))
            for estimate, array, peak in zip(estimates, expected, peaks, strict=True)
        ]
        if not any(estimate.reshaped for estimate in estimates):
            settled.append((feed, run(session, feed), parts, peaks))
    usual = [_usual(settled, place) for place in range(len(settled[0][1]))]
    return [
        Case(
            feed,
            outputs,
            [
                _noise(array, part, peak, *both)
                for array, part, peak, both in zip(outputs, parts, peaks, usual, strict=True)
            ],
        )
        for feed, outputs, parts, peaks in settled
    ]


def _noise(array: Array, part: Settled, peak: float, share: float, least: float) -> Noise:
    limit = max(part.noise, share * peak, least)
    allowed = max(MULTIPLE * limit, FLOORS.get(array.dtype.name, 0.0) * peak)
    return Noise(limit, part.unsettled, allowed)


def _usual(settled: Sequence[Any], place: int) -> tuple[float, float]:
    """Return an output's noise relative to its peak, and the least that its type may be off."""
    shares = [parts[place].noise / peaks[place] for *_, parts, peaks in settled if peaks[place]]
    dtype = settled[0][1][place].dtype
    least = 0.0
    if dtype.kind == "f":
        ordinary = float(np.median([peaks[place] for *_, peaks in settled]))
        least = float(np.finfo(dtype).eps) * _ULPS.get(dtype.name, 1) * ordinary
    return float(np.quantile(shares, 0.9)) if shares else 0.0, least


def _other_results(reference: EagerReference, feed: Mapping[str, Array]) -> Iterator[list[Array]]:
    """Yield what the model returns with other roundings; not every model runs in float64."""
    for seed in range(RUNS):
        with contextlib.suppress(PerturbedArithmeticUnavailable):
            yield reference.with_random_rounding(feed, seed) if seed else reference.in_float64(feed)


def change(session: Any, cases: Sequence[Case]) -> Change:  # noqa: ANN401
    """Return how far a mutated file goes from the original."""
    worst, shown, beyond = Change(0.0), 0, 0.0
    for case in cases:
        where = ", ".join(f"{name} {list(array.shape)}" for name, array in case.feed.items())
        try:
            found = _difference(case, run(session, case.feed))
        except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises
            found, where = Change(ALWAYS), f"{where}: {str(error)[:80]}"
        shown += found.excess > 1
        beyond = max(beyond, found.beyond)
        if (found.excess, found.error) > (worst.excess, worst.error):
            worst = replace(found, where=where)
    return replace(worst, shows=shown / len(cases), beyond=beyond)


def _difference(case: Case, outputs: Sequence[Array]) -> Change:
    worst = Change(0.0, beyond=0.0)
    for want, have, noise in zip(case.outputs, outputs, case.noise, strict=True):
        if want.shape != have.shape or want.dtype != have.dtype:
            return Change(ALWAYS)
        off = _largest(want, have, noise.unsettled)
        exact = want.dtype.kind != "f" or np.isinf(off)
        found = Change(_times(off, noise.limit, exact), off)
        beyond = max(worst.beyond, _times(off, noise.allowed, exact))
        further = (found.excess, off) > (worst.excess, worst.error)
        worst = replace(found if further else worst, beyond=beyond)
    return worst


def _times(off: float, limit: float, exact: bool) -> float:
    if not off:
        return 0.0
    return ALWAYS if exact or not limit else off / limit


def _largest(want: Array, have: Array, unsettled: Array | None) -> float:
    """Return the largest difference of what is settled; infinite where NaN or infinities differ."""
    one, other = want.reshape(-1).astype(np.float64), have.reshape(-1).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        apart = np.where(same, 0.0, np.abs(one - other))
    apart[np.isnan(apart)] = np.inf
    if unsettled is not None:
        apart[unsettled] = 0.0
    return float(apart.max(initial=0.0))


def _bound(array: Array, peak: float) -> float:
    return UNSETTLED[array.dtype.name] * peak if array.dtype.kind == "f" else 0.0


def _peak(array: Array) -> float:
    if array.dtype.kind != "f":
        return 0.0
    finite = np.abs(array[np.isfinite(array)].astype(np.float64))
    return float(finite.max(initial=0.0))
