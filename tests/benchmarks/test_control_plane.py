"""The table of the benchmark of the operator."""

from __future__ import annotations

from benchmarks.control_plane import Run, table


def test_ratios_are_of_each_round_and_memory_is_the_peak() -> None:
    floor = [Run(seconds, seconds / 2, 1.0) for seconds in (10, 20, 40)]
    default = [Run(s, s / 4, 4.5, 0.015, m * 2**20) for s, m in ((20, 60), (50, 80), (80, 70))]
    lines = table(300, {"floor": floor, "default": default}).splitlines()
    assert lines[0].startswith("| 300 at once |")
    assert lines[2] == "| bare Jobs | 1.0× | 0.5× | 1.0 | | |"
    assert lines[3] == "| exports, settings by default | 2.0× | 0.5× | 4.5 | 15 ms | 80 MiB |"
    assert len(lines) == 4
