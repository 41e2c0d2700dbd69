"""Plans the benchmark: sizes, number of calls, and what is left out and why. Pure.

Guarantees that a benchmark is short compared with the export: about a second for a tiny model, at
most BUDGET_SECONDS for any, and a quarter of the export's time for torch.compile.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modelexport_api.spec import Provider
from modelexport_api.status import Latency, LatencyFigures

BUDGET_SECONDS = 20.0
"""For eager and onnxruntime together, including the load of the model."""
DEADLINE_SECONDS = 60.0
"""The worker is killed after this time."""
SETTLED_SECONDS = 1.0
"""Minimal time of all calls together, in seconds, unless MOST_ROUNDS were made."""
FEW_ROUNDS = 20
"""A p95 of fewer calls would be the slowest of them."""
MOST_ROUNDS = 200
COMPILED_ROUNDS = 30
SLOW_CALL_SECONDS = 1.0
"""The largest sizes are measured if a call there is expected to take less."""
COMPILE_SHARE = 0.25
COMPILE_AT_MOST = 30.0
COMPILE_AT_LEAST = 10.0
"""With less, inductor compiles nothing on a CPU: imports and one call of g++ need most of it."""
MEMORY_FACTOR = 3
"""The weights as eager has them, as onnxruntime has them, and prepacked."""


@dataclass(frozen=True)
class Benchmark:
    """The latency, and a sentence for everything that was not measured."""

    latency: Latency | None
    left_out: tuple[str, ...] = ()


def sizes_to_measure(
    small: Mapping[str, int], large: Mapping[str, int], seconds: float, growth: float
) -> tuple[dict[str, int], str]:
    """Return the sizes, and why they are not the largest that dims declares.

    `seconds`: of a call at the small ones. `growth`: the ratio of elements, large to small.
    """
    expected = seconds * max(growth, 1.0)
    if expected <= SLOW_CALL_SECONDS:
        return dict(large), ""
    return dict(small), (
        f"latency at the largest sizes: a call would take about {expected:.0f} s; measured at "
        "smaller ones"
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


def compile_seconds(exported_seconds: float, provider: str) -> tuple[float, str]:
    """Return how long torch.compile may take, or 0 and why it is not tried.

    `exported_seconds`: what the export has taken so far.
    """
    if provider == Provider.CPU.value and not any(map(shutil.which, ("g++", "clang++", "c++"))):
        return 0.0, "torch.compile: there is no C++ compiler, which it needs on a CPU"
    allowed = min(COMPILE_AT_MOST, COMPILE_SHARE * exported_seconds)
    if allowed < COMPILE_AT_LEAST:
        return 0.0, (
            f"torch.compile: may take {allowed:.1f} s here ({COMPILE_SHARE:.0%} of what the export "
            f"took), and takes {COMPILE_AT_LEAST:.0f} s at least"
        )
    return allowed, ""
