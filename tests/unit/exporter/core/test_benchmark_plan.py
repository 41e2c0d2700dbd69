"""What is measured and what is left out, as tables."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

import pytest

from modelexport_exporter.core.benchmark_plan import (
    COMPILE_AT_LEAST,
    FEW_ROUNDS,
    LEAST_SECONDS,
    MOST_ROUNDS,
    MOST_SECONDS,
    benchmark_seconds,
    compile_problem,
    enough,
    figures,
    growing_sizes,
    largest_affordable,
    memory_problem,
)


@pytest.mark.parametrize(
    ("exported", "asked", "expected"),
    [
        pytest.param(5.0, None, LEAST_SECONDS, id="a quick export"),
        pytest.param(80.0, None, 8.0, id="a tenth"),
        pytest.param(3600.0, None, MOST_SECONDS, id="of hours, a minute"),
        pytest.param(5.0, 300, 300.0, id="as the spec says"),
    ],
)
def test_how_long_everything_may_take(exported: float, asked: int | None, expected: float) -> None:
    assert benchmark_seconds(exported, asked) == expected


def test_sizes_are_doubled_up_to_the_highest() -> None:
    steps = growing_sizes({"batch": 3, "time": 64, "none": 0}, {"batch": 16, "time": 64, "none": 1})
    assert [step["batch"] for step in steps] == [3, 6, 12, 16]
    assert {step["time"] for step in steps} == {64}
    assert [step["none"] for step in steps] == [0, 1, 1, 1]
    assert growing_sizes({}, {}) == [{}]


class Machine:
    """Calls that take `fixed` seconds and `each` for a row, and a clock."""

    def __init__(self, fixed: float, each: float, seconds: float) -> None:
        self.fixed, self.each, self.left = fixed, each, seconds

    def round_of(self, sizes: Mapping[str, int]) -> float:
        seconds = self.fixed + self.each * sizes["n"]
        self.left -= 2 * seconds  # cold and warm
        return seconds

    def choose(self) -> tuple[dict[str, int] | None, str]:
        steps = growing_sizes({"n": 4}, {"n": 64})
        return largest_affordable(steps, lambda one: one["n"], self.round_of, lambda: self.left)


@pytest.mark.parametrize(
    ("fixed", "each", "seconds", "expected", "note"),
    [
        pytest.param(0.001, 0.0001, 2.0, 64, "", id="a fast model"),
        pytest.param(0.1, 0.0, 4.0, 64, "", id="what a call costs does not grow with its rows"),
        pytest.param(0.0, 0.01, 2.0, 16, "n=32 would take about 0.32 s", id="it does"),
        pytest.param(1.0, 0.0, 5.0, None, "5 do not fit into the 3.0 s", id="slow at any size"),
    ],
)
def test_the_largest_sizes_that_fit(
    fixed: float, each: float, seconds: float, expected: int | None, note: str
) -> None:
    sizes, why = Machine(fixed, each, seconds).choose()
    assert sizes == (None if expected is None else {"n": expected})
    assert note in why
    assert bool(why) is bool(note)


def test_a_size_that_costs_more_than_expected_is_not_taken() -> None:
    def round_of(sizes: Mapping[str, int]) -> float:
        return 0.001 if sizes["n"] < 8 else 1.0

    steps = growing_sizes({"n": 4}, {"n": 8})
    sizes, why = largest_affordable(steps, lambda one: one["n"], round_of, lambda: 2.0)
    assert sizes == {"n": 4}
    assert "n=8 take 1 s" in why


@pytest.mark.parametrize(
    ("seconds", "rounds", "left", "expected"),
    [
        pytest.param(0.001, 0, 20, False, id="nothing yet"),
        pytest.param(0.001, 50, 20, False, id="a tiny model is called often"),
        pytest.param(0.001, MOST_ROUNDS, 20, True, id="and then enough"),
        pytest.param(0.1, FEW_ROUNDS - 1, 20, False, id="too few for a p95"),
        pytest.param(0.1, FEW_ROUNDS, 20, True, id="a second has passed"),
        pytest.param(4.0, 3, 5, True, id="no time for another round"),
        pytest.param(4.0, 1, 12, False, id="time for another round"),
    ],
)
def test_when_to_stop(seconds: float, rounds: int, left: float, expected: bool) -> None:
    assert enough([[seconds] * rounds, [seconds] * rounds], left) is expected


def test_the_figures_are_milliseconds() -> None:
    found = figures([0.001 * number for number in range(1, 101)])
    assert (found.median, found.p95) == (50.5, 96.0)


@pytest.mark.parametrize(
    ("weights", "free", "refused"), [(1 << 30, 4 << 30, False), (2 << 30, 4 << 30, True)]
)
def test_memory(weights: int, free: int, refused: bool) -> None:
    assert bool(memory_problem(weights, free)) is refused


@pytest.mark.parametrize(
    ("left", "measured"),
    [
        pytest.param(COMPILE_AT_LEAST - 0.1, False, id="too little for a compiler to start"),
        pytest.param(COMPILE_AT_LEAST, True, id="enough"),
        pytest.param(-1.0, False, id="nothing is left"),
    ],
)
def test_whether_torch_compiles(
    left: float, measured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert bool(compile_problem(left, "CPU")) is not measured


def test_a_cpu_needs_a_compiler_and_a_gpu_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert "C++ compiler" in compile_problem(1000, "CPU")
    assert not compile_problem(1000, "CUDA")
