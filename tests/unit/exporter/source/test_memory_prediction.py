"""The prediction against measured peaks (`python -m benchmarks.memory`), and what it refuses."""

from __future__ import annotations

import pytest

from modelexport_exporter.source.memory_prediction import (
    Loading,
    Plan,
    is_impossible,
    predict,
)

GIB = 1 << 30
MAPPED, COPIED, UNKNOWN = Loading.MAPPED, Loading.COPIED, Loading.UNKNOWN

MEASURED = [
    ("digits", Plan(43_000, MAPPED), 800),
    ("decoder", Plan(1_084_000_000, MAPPED), 926),
]
"""Megabytes of all processes at the peak."""


@pytest.mark.parametrize(
    ("plan", "megabytes"), [row[1:] for row in MEASURED], ids=[row[0] for row in MEASURED]
)
def test_the_prediction_is_within_a_quarter_of_what_was_measured(
    plan: Plan, megabytes: int
) -> None:
    assert predict(plan).peak_bytes == pytest.approx(megabytes * 1e6, rel=0.25)
    assert predict(plan).lower_bytes < megabytes * 1e6


@pytest.mark.parametrize(
    ("plan", "limit", "refused"),
    [
        (Plan(8 * GIB, COPIED), 4 * GIB, True),
        (Plan(4 * GIB, COPIED), 4 * GIB, False),
        (Plan(8 * GIB, MAPPED), 4 * GIB, False),
        (Plan(800 * GIB, MAPPED), GIB // 2, False),
        (Plan(8 * GIB, UNKNOWN), 4 * GIB, False),
        (Plan(1000, MAPPED), 128 << 20, True),
        (Plan(1000, MAPPED), 256 << 20, False),
    ],
    ids=lambda value: str(getattr(value, "loading", value)),
)
def test_only_what_no_export_avoids_is_refused(plan: Plan, limit: int, refused: bool) -> None:
    assert is_impossible(predict(plan), limit) is refused


@pytest.mark.parametrize("loading", list(Loading))
def test_the_lower_bound_is_below_the_prediction(loading: Loading) -> None:
    for size in (0, 10**6, 10**12):
        for cuda in (False, True):
            found = predict(Plan(size, loading, cuda))
            assert found.lower_bytes < found.peak_bytes
