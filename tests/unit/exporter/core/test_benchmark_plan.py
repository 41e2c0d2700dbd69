"""What is measured and what is left out, as tables."""

from __future__ import annotations

import shutil

import pytest

from modelexport_exporter.core.benchmark_plan import (
    COMPILE_AT_LEAST,
    COMPILE_AT_MOST,
    FEW_ROUNDS,
    MOST_ROUNDS,
    compile_seconds,
    enough,
    figures,
    memory_problem,
    sizes_to_measure,
)


@pytest.mark.parametrize(
    ("seconds", "growth", "expected"),
    [
        pytest.param(0.001, 64, {"batch": 64}, id="a fast call: the largest sizes"),
        pytest.param(0.1, 64, {"batch": 3}, id="6.4 s at the largest: smaller ones"),
        pytest.param(5.0, 1, {"batch": 3}, id="slow at any size"),
    ],
)
def test_the_sizes(seconds: float, growth: float, expected: dict[str, int]) -> None:
    sizes, note = sizes_to_measure({"batch": 3}, {"batch": 64}, seconds, growth)
    assert sizes == expected
    assert bool(note) is (sizes == {"batch": 3})


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
    ("exported", "allowed"),
    [
        pytest.param(8, 0, id="a quarter of a quick export compiles nothing"),
        pytest.param(60, 15, id="a quarter of a long one"),
        pytest.param(1000, COMPILE_AT_MOST, id="never longer than that"),
    ],
)
def test_how_long_torch_may_compile(
    exported: float, allowed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    seconds, why = compile_seconds(exported, "CPU")
    assert seconds == allowed
    assert bool(why) is not bool(seconds)


def test_a_cpu_needs_a_compiler_and_a_gpu_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert compile_seconds(1000, "CPU")[0] == 0
    assert "C++ compiler" in compile_seconds(1000, "CPU")[1]
    assert compile_seconds(1000, "CUDA")[0] >= COMPILE_AT_LEAST
