"""Plans the benchmark: its time, sizes, number of calls, and what is left out and why. Pure.

A measurement belongs to an export, of which it takes a tenth: the sizes are the largest whose calls
fit into that time, as calls at smaller sizes show.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from modelexport_api.spec import Provider
from modelexport_api.status import Latency, LatencyFigures
from modelexport_exporter.core.dims import describe_sizes

SHARE = 0.1
"""Of the time that the export took until then: what all measurements may take together."""
LEAST_SECONDS, MOST_SECONDS = 2.0, 60.0
SETTLED_SECONDS = 1.0
"""Minimal time of all calls together, in seconds, unless MOST_ROUNDS were made."""
LEAST_ROUNDS = 5
"""A median of fewer calls is none."""
FEW_ROUNDS = 20
"""A p95 of fewer calls would be the slowest of them."""
MOST_ROUNDS = 200
COMPILED_ROUNDS = 30
COMPILE_AT_LEAST = 10.0
"""With less, inductor compiles nothing on a CPU: imports and one call of g++ need most of it."""
MEMORY_FACTOR = 3
"""The weights as eager has them, as onnxruntime has them, and prepacked."""


@dataclass(frozen=True)
class Benchmark:
    """The latency, and a sentence for everything that was not measured."""

    latency: Latency | None
    left_out: tuple[str, ...] = ()
    seconds: float | None = None
    """That all measurements took."""


def benchmark_seconds(exported_seconds: float, asked: int | None) -> float:
    """Return how long all measurements may take together.

    `exported_seconds`: what the export has taken so far. `asked`: by the spec.
    """
    if asked is not None:
        return float(asked)
    return min(max(SHARE * exported_seconds, LEAST_SECONDS), MOST_SECONDS)


def growing_sizes(captured: Mapping[str, int], highest: Mapping[str, int]) -> list[dict[str, int]]:
    """Return the sizes of the capture, and those doubled until all are the highest."""
    steps = [dict(captured)]
    while any(size < highest[name] for name, size in steps[-1].items()):
        last = steps[-1].items()
        steps.append({name: min(max(2 * size, 1), highest[name]) for name, size in last})
    return steps


def largest_affordable(
    steps: Sequence[Mapping[str, int]],
    elements: Callable[[Mapping[str, int]], int],
    round_of: Callable[[Mapping[str, int]], float],
    seconds_left: Callable[[], float],
) -> tuple[dict[str, int] | None, str]:
    """Return the largest sizes at which LEAST_ROUNDS fit into the time, and why no larger ones.

    `elements`: of the inputs, which cost grows with. `round_of`: makes the calls of a round, and
    returns their seconds. None if not even the smallest sizes fit.
    """
    chosen, seconds = dict(steps[0]), round_of(steps[0])
    if seconds * LEAST_ROUNDS > seconds_left():
        return None, _too_slow(chosen, seconds, max(seconds_left(), 0.0))
    for smaller, larger in pairwise(steps):
        expected = seconds * elements(larger) / max(elements(smaller), 1)
        # The first calls at a size cost more, and are not measured.
        if expected * (LEAST_ROUNDS + 2) > seconds_left():
            return chosen, _not_at(larger, f"would take about {expected:.3g} s", chosen)
        found = round_of(larger)
        if found * LEAST_ROUNDS > seconds_left():
            return chosen, _not_at(larger, f"take {found:.3g} s", chosen)
        chosen, seconds = dict(larger), found
    return chosen, ""


_FIELD = "verification.benchmarkSeconds"


def _too_slow(sizes: Mapping[str, int], seconds: float, left: float) -> str:
    return (
        f"latency: a call of both takes {seconds:.3g} s at {describe_sizes(sizes)}, and "
        f"{LEAST_ROUNDS} do not fit into the {left:.1f} s that are left ({_FIELD} sets the time)"
    )


def _not_at(larger: Mapping[str, int], why: str, chosen: Mapping[str, int]) -> str:
    return (
        f"latency at larger sizes: a call of both at {describe_sizes(larger)} {why}; measured at "
        f"{describe_sizes(chosen)} ({_FIELD} sets the time)"
    )


def enough(taken: Sequence[Sequence[float]], seconds_left: float, most: int | None = None) -> bool:
    """Return whether the calls suffice for the median and the 95th percentile."""
    rounds = len(taken[0])
    if not rounds:
        return False
    spent = sum(sum(seconds) for seconds in taken)
    a_round = spent / rounds
    if a_round > seconds_left or rounds >= (most or MOST_ROUNDS):
        return True
    return rounds >= FEW_ROUNDS and spent >= SETTLED_SECONDS


def figures(seconds: Sequence[float]) -> LatencyFigures:
    """Return median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return LatencyFigures(
        median=round(statistics.median(ordered) * 1e3, 4), p95=round(p95 * 1e3, 4)
    )


def memory_problem(weight_bytes: int, free_bytes: int) -> str:
    """Return why the model is too large to be measured here; empty where it is not."""
    needed = weight_bytes * MEMORY_FACTOR
    if needed <= free_bytes:
        return ""
    return (
        f"latency: {weight_bytes / 1e9:.1f} GB of weights take about {needed / 1e9:.1f} GB as "
        f"production has them (prepacked), {free_bytes / 1e9:.1f} GB are free"
    )


def compile_problem(seconds_left: float, provider: str) -> str:
    """Return why torch.compile is not measured in this time; empty where it is."""
    if provider == Provider.CPU.value and not any(map(shutil.which, ("g++", "clang++", "c++"))):
        return "torch.compile: there is no C++ compiler, which it needs on a CPU"
    if seconds_left >= COMPILE_AT_LEAST:
        return ""
    return (
        f"torch.compile: takes {COMPILE_AT_LEAST:.0f} s at least, and {max(seconds_left, 0.0):.1f} "
        f"s are left ({_FIELD} sets the time)"
    )
