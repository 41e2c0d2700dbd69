"""NaN and infinities: single ones, gaps, whole rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modelexport_api.spec import Input
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.not_finite import inject_not_finite


def entry(**declared: Any) -> Input:  # noqa: ANN401
    return Input.model_validate({"name": "x", "shape": ["n"], "dtype": "float32"} | declared)


@pytest.mark.parametrize(
    ("declared", "dtype", "expected"),
    [
        ({}, np.float32, True),
        ({"range": [0, 1]}, np.float32, False),
        ({"dtype": "int64"}, np.int64, False),
    ],
)
@pytest.mark.parametrize("values", [Values.WITH_NAN, Values.WITH_INFINITY])
def test_no_number_is_injected_only_into_floats_without_range(
    declared: dict[str, Any], dtype: str, expected: bool, values: Values
) -> None:
    ones = {"x": np.ones(1000, dtype)}
    injected = inject_not_finite([entry(**declared)], ones, Sample({}, values, 1))["x"]
    finite = np.isfinite(injected.astype(np.float64))
    assert bool((~finite).any()) is expected
    assert np.isnan(injected.astype(np.float64)).any() == (expected and values is Values.WITH_NAN)
    assert injected.dtype == dtype


def missing(shape: tuple[int, ...], seed: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    arrays = {"x": np.ones(shape, np.float32)}
    found = inject_not_finite([entry()], arrays, Sample({}, Values.WITH_NAN, seed))
    return np.isnan(found["x"])


def test_gaps_and_whole_rows_occur() -> None:
    rows = np.concatenate([missing((24, 40), seed) for seed in range(4)])
    inner = np.abs(np.diff(rows.astype(int), axis=1)).sum(1)
    assert rows.all(1).sum() >= 16
    one_gap = rows.any(1) & ~rows.all(1) & (inner <= 2)
    assert (one_gap & rows[:, 0] & ~rows[:, -1]).any(), "a gap at the beginning"
    assert (one_gap & ~rows[:, 0] & rows[:, -1]).any(), "a gap at the end"
    assert (one_gap & ~rows[:, 0] & ~rows[:, -1]).any(), "a gap inside"
    assert rows[one_gap].sum(1).max() > 20
    scattered = rows.mean(1)[inner > 4]
    assert scattered.min() < 0.5 < scattered.max()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2, 3, 1)])
def test_one_element_at_least_is_missing(shape: tuple[int, ...]) -> None:
    for seed in range(20):
        found = missing(shape, seed)
        assert found.shape == shape
        assert found.any()


def test_infinities_of_both_signs_are_in_one_row() -> None:
    arrays = {"x": np.ones((8, 20), np.float32)}
    found = inject_not_finite([entry()], arrays, Sample({}, Values.WITH_INFINITY, 2))["x"]
    assert ((found == np.inf).any(1) & (found == -np.inf).any(1)).any()
