"""Whether a mutant computes something else, decided without the verification.

The original file and the mutated one run in onnxruntime on the same many inputs (`draws`). A mutant
counts if, somewhere, an output differs by more than the noise that the model has by itself: the
distance of eager PyTorch to the same model in float64 and with its results rounded at random.
Elements that this noise changes altogether (an argmax over equal scores) never count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.spread import Settled, Spread
from modelexport_exporter.verification.tolerance import UNSETTLED

Array = NDArray[Any]
RUNS = 3
"""With other roundings: in float64, and rounded at random."""
ALWAYS = float("inf")
"""The excess of what no noise explains: another shape, another integer, a failure."""


@dataclass(frozen=True)
class Noise:
    """What the model does to one output on one input by its own rounding."""

    limit: float
    unsettled: Array | None


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
        spreads = [Spread(array) for array in expected]
        for seed in range(RUNS):
            results = (
                reference.rounded_at_random(feed, seed) if seed else reference.in_float64(feed)
            )
            for spread, own in zip(spreads, results, strict=True):
                spread.add(own)
        peaks = [_peak(array) for array in expected]
        parts = [
            spread.settled(_bound(array, peak))
            for spread, array, peak in zip(spreads, expected, peaks, strict=True)
        ]
        if not any(spread.reshaped for spread in spreads):
            settled.append((feed, run(session, feed), parts, peaks))
    ordinary = [
        float(np.quantile([_part(parts[i].noise, peaks[i]) for *_, parts, peaks in settled], 0.9))
        for i in range(len(settled[0][1]))
    ]
    return [
        Case(
            feed,
            outputs,
            [
                Noise(max(part.noise, usual * peak), part.unsettled)
                for part, usual, peak in zip(parts, ordinary, peaks, strict=True)
            ],
        )
        for feed, outputs, parts, peaks in settled
    ]


def change(session: Any, cases: Sequence[Case]) -> Change:  # noqa: ANN401
    """Return how far a mutated file goes from the original."""
    found, shown = Change(0.0), 0
    for case in cases:
        where = ", ".join(f"{name} {list(array.shape)}" for name, array in case.feed.items())
        try:
            outputs = run(session, case.feed)
        except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises
            excess, off = ALWAYS, 0.0
            where += f": {str(error)[:80]}"
        else:
            excess, off = _excess(case, outputs)
        shown += excess > 1
        if excess > found.excess or (excess == found.excess and off > found.error):
            found = Change(excess, off, 0.0, where)
    return Change(found.excess, found.error, shown / len(cases), found.where)


def _excess(case: Case, outputs: Sequence[Array]) -> tuple[float, float]:
    worst = (0.0, 0.0)
    for want, have, noise in zip(case.outputs, outputs, case.noise, strict=True):
        if want.shape != have.shape or want.dtype != have.dtype:
            return ALWAYS, 0.0
        off = _largest(want, have, noise.unsettled)
        if off > 0:
            exact = want.dtype.kind != "f" or np.isinf(off) or not noise.limit
            worst = max(worst, (ALWAYS if exact else off / noise.limit, off))
    return worst


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


def _part(noise: float, peak: float) -> float:
    return noise / peak if peak else 0.0


def _peak(array: Array) -> float:
    if array.dtype.kind != "f":
        return 0.0
    finite = np.abs(array[np.isfinite(array)].astype(np.float64))
    return float(finite.max(initial=0.0))
