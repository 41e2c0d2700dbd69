from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from modelexport_api.spec import DType, Input
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import draw
from modelexport_exporter.sampling.rows import one_hot_rows, sorted_rows

SHAPES = [(), (0,), (1,), (3, 0), (5,), (4, 3), (2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES)
def test_sorted_rows_hold_the_same_elements(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).integers(0, 9, shape)
    rows = sorted_rows(array)
    assert rows.shape == shape
    assert np.array_equal(_ascending(rows), _ascending(array))


def _ascending(array: NDArray[Any]) -> NDArray[Any]:
    return np.sort(array, axis=-1) if array.ndim else array


def test_rows_ascend_and_descend_by_turns() -> None:
    rows = sorted_rows(np.array([[3, 1, 2], [1, 3, 2], [2, 1, 3]]))
    assert rows.tolist() == [[1, 2, 3], [3, 2, 1], [1, 2, 3]]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_row_has_one_peak(shape: tuple[int, ...]) -> None:
    rows = one_hot_rows(np.zeros(shape), np.ones(shape), np.random.default_rng(0))
    assert rows.shape == shape
    if shape and rows.size:
        assert (rows.sum(axis=-1) == 1).all()


@pytest.mark.parametrize("dtype", [DType.BOOL, DType.UINT8, DType.INT64, DType.FLOAT16])
def test_peaks_are_inside_the_range(dtype: DType) -> None:
    limits = None if dtype is DType.BOOL else (3, 7)
    entry = Input.model_validate({"name": "x", "dtype": dtype, "shape": [4, 5], "range": limits})
    drawn = draw([entry], Sample({}, Values.ONE_HOT, 1))["x"]
    low, high = limits or (0, 1)
    assert ((drawn == low).sum(axis=-1) == 4).all()
    assert ((drawn == high).sum(axis=-1) == 1).all()


def test_floats_without_a_range_peak_at_one() -> None:
    entry = Input.model_validate({"name": "x", "shape": [4, 5]})
    drawn = draw([entry], Sample({}, Values.ONE_HOT, 1))["x"]
    assert (drawn.sum(axis=-1) == 1).all()
    assert set(np.unique(drawn)) == {0.0, 1.0}
