from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from modelexport_api.spec import DType, Input
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import draw
from modelexport_exporter.sampling.rows import (
    SPARSE_PART,
    alike,
    close_integers,
    close_together,
    copied_slices,
    drifting_rows,
    each_integer,
    far_rows,
    one_hot_rows,
    small_rows,
    sorted_rows,
    sparse_rows,
    stepped,
    stepped_integers,
    two_values,
)

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


def test_the_first_row_can_descend() -> None:
    assert sorted_rows(np.array([3, 1, 2]), 1).tolist() == [3, 2, 1]
    assert sorted_rows(np.array([[3, 1, 2], [1, 3, 2]]), 1).tolist() == [[3, 2, 1], [1, 2, 3]]


@pytest.mark.parametrize("shape", SHAPES)
def test_two_values_recur_at_random_and_by_turns(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).random(shape)
    made = two_values(array, np.random.default_rng(1))
    assert made.shape == shape
    if array.size:
        assert set(made.flat) <= {array.flat[0], array.flat[-1]}
    if len(shape) == 2 and made.size:
        assert made[1].tolist() == [array.flat[0], array.flat[-1], array.flat[0]]


def test_slices_are_copied() -> None:
    images = np.random.default_rng(0).random((4, 3, 2, 2))
    made = copied_slices(images)
    assert (made[-1] == made[0]).all()
    assert (made[1] == made[1, :1]).all()
    assert (made[[0, 2]] == images[[0, 2]]).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_copies_have_the_shape_of_the_array(shape: tuple[int, ...]) -> None:
    assert copied_slices(np.ones(shape)).shape == shape


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (1.6e9, 1.9e9), (-3.0, 7.0)])
def test_numbers_are_close_together_and_far_from_zero(low: float, high: float) -> None:
    rng = np.random.default_rng(0)
    bounded = np.isfinite(high - low)
    drawn = rng.uniform(low, high, (50, 9)) if bounded else rng.standard_normal((50, 9))
    made = close_together(drawn, low, high, rng)
    assert ((made >= low) & (made <= high)).all()
    scale = high - low if bounded else np.abs(made).max(1)
    apart = np.ptp(made, axis=1) / scale
    assert 1e-4 < apart.min() < 2e-2
    assert 0.05 < apart.max() < 0.6


def test_points_are_close_to_each_other() -> None:
    rng = np.random.default_rng(0)
    made = close_together(rng.standard_normal((2, 50, 3)), -np.inf, np.inf, rng)
    assert (np.ptp(made, axis=(0, 1)) < 0.7 * made.max((0, 1))).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_rows_drift_within_the_range(shape: tuple[int, ...], dtype: type) -> None:
    array: Any = (np.random.default_rng(0).random(shape) * 100).astype(dtype)
    made = drifting_rows(array, np.random.default_rng(1), moving=True)
    assert (made.shape, made.dtype) == (array.shape, array.dtype)
    if array.size:
        assert array.min() <= made.min() <= made.max() <= array.max()
        still = drifting_rows(array, np.random.default_rng(1), moving=False)
        assert not shape or (still == still.take([0], -1)).all() or shape[-1] <= 4


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("high", [0, 1, 255])
def test_integers_are_close_together(shape: tuple[int, ...], high: int) -> None:
    made = close_integers(0, high, shape, np.random.default_rng(0))
    assert made.shape == shape
    if made.size:
        assert 0 <= made.min() <= made.max() <= high
        first = made.reshape(shape[0] if len(shape) > 1 else 1, -1)
        assert np.ptp(first, axis=-1).max() <= 2


def test_boxes_overlap_their_neighbours_only() -> None:
    rng, chains = np.random.default_rng(0), 0
    for _ in range(40):
        boxes = drifting_rows(rng.uniform(0, 100, (6, 4)), rng, moving=True)
        assert (boxes[:, :2] <= boxes[:, 2:]).all()
        one, two = (_overlap(boxes[0], boxes[step]) for step in (1, 2))
        chains += one > 0.5 > two
    assert chains > 4


def _overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Return the intersection of two boxes over their union."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    common = np.prod(np.maximum(sides, 0))
    areas = [np.prod(box[2:] - box[:2]) for box in (one, other)]
    return float(common / max(sum(areas) - common, 1e-9))


@pytest.mark.parametrize("shape", SHAPES)
def test_each_row_has_one_peak(shape: tuple[int, ...]) -> None:
    rows = one_hot_rows(np.zeros(shape), np.ones(shape))
    assert rows.shape == shape
    if shape and rows.size:
        flat = rows.reshape(-1, shape[-1])
        assert (flat[::2].sum(axis=-1) == 1).all()
        assert (flat[1::2].sum(axis=-1) == shape[-1] - 1).all()


def test_peaks_are_at_the_middle_the_end_the_beginning_and_everywhere() -> None:
    rows = one_hot_rows(np.zeros((10, 5)), np.ones((10, 5)))
    assert rows[::2].argmax(axis=-1).tolist() == [2, 4, 0, 1, 3]
    assert rows[1::2].argmin(axis=-1).tolist() == [2, 4, 0, 1, 3]


def test_stepped_floats_are_halves_near_zero_and_eighths_of_a_range() -> None:
    rng = np.random.default_rng(0)
    free = stepped(-np.inf, np.inf, (1000,), rng)
    assert set(free.tolist()) == {step / 2 for step in range(-8, 9)}
    ranged = stepped(1.0, 500.0, (1000,), rng)
    assert {1.0, 2.0, 5.0, 250.5, 500.0} <= set(ranged.tolist())
    assert ranged.min() == 1.0
    assert ranged.max() == 500.0


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(-1000, 1000, set(range(-8, 9))), (1, 60, set(range(1, 10))), (0, 1, {0, 1})],
)
def test_stepped_integers_are_next_to_zero(low: int, high: int, found: set[int]) -> None:
    drawn = stepped_integers(low, high, (1000,), np.random.default_rng(0))
    assert set(drawn.tolist()) == found


def test_each_integer_of_a_range_occurs() -> None:
    drawn = [each_integer(-5, 90, (4, 8), number) for number in range(3)]
    assert sorted(np.concatenate(drawn).reshape(-1).tolist()) == list(range(-5, 91))


@pytest.mark.parametrize("dtype", [DType.BOOL, DType.UINT8, DType.INT64, DType.FLOAT16])
def test_peaks_are_inside_the_range(dtype: DType) -> None:
    limits = None if dtype is DType.BOOL else (3, 7)
    entry = Input.model_validate({"name": "x", "dtype": dtype, "shape": [4, 5], "range": limits})
    drawn = draw([entry], Sample({}, Values.ONE_HOT, 1))["x"]
    low, high = limits or (0, 1)
    assert (drawn == low).sum(axis=-1).tolist() == [4, 1, 4, 1]
    assert (drawn == high).sum(axis=-1).tolist() == [1, 4, 1, 4]


def test_floats_without_a_range_peak_at_one() -> None:
    entry = Input.model_validate({"name": "x", "shape": [4, 5]})
    drawn = draw([entry], Sample({}, Values.ONE_HOT, 1))["x"]
    assert drawn.sum(axis=-1).tolist() == [1, 4, 1, 4]
    assert set(np.unique(drawn)) == {0.0, 1.0}


def test_far_rows_are_small_as_a_whole() -> None:
    rows = far_rows(np.random.default_rng(0).standard_normal((200, 4)), np.random.default_rng(1))
    norms = np.sqrt((rows**2).sum(axis=-1))
    assert norms.min() < 1e-5
    assert np.abs(rows).max() > 1e3
    assert (rows[::2] != 0).all()


def test_alike_inputs_are_equal_and_nearly_equal_row_by_row() -> None:
    first = np.random.default_rng(0).uniform(-90, 90, (8, 2)).astype(np.float32)
    made = alike(first, np.full((8, 2), 7, np.float32), -100, 100)
    relative = np.abs(made / first - 1).max(axis=-1)
    assert relative[0] == 0
    assert 0 < relative[1] < 2e-6
    assert 5e-5 < relative[2] < 2e-4
    assert made.dtype == np.float32


def test_alike_integers_stay_inside_their_range() -> None:
    first, own = np.arange(0, 100, 10), np.full(5, 3)
    made = alike(first, own, 0, 25)
    assert made.tolist() == [0, 11, 20, 3, 3]


def test_alike_rows_of_integers_differ_in_one_element() -> None:
    first, own = np.arange(48).reshape(12, 4), np.full((12, 4), 99)
    differing = alike(first, own, 0, 100) != first
    assert differing.sum(axis=1).tolist() == [0, 4, 1] * 4
    assert differing[2::3].argmax(axis=1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("low", "high"), [(-10.0, 10.0), (0.0, 1.0), (3.0, 5.0)])
def test_small_examples_stay_in_their_range(low: float, high: float) -> None:
    rng = np.random.default_rng(0)
    made = small_rows(rng.uniform(low, high, (50, 6)), low, high, rng)
    assert made.min() >= low
    assert made.max() <= high
    scales = np.abs(made).max(axis=1)
    assert low > 0 or scales.max() / scales.min() > 1e3


def test_inputs_of_one_dtype_are_alike() -> None:
    a, b = (Input.model_validate({"name": name, "shape": [4, 2]}) for name in "ab")
    drawn = draw([a, b], Sample({}, Values.ALIKE, 1))
    assert np.array_equal(drawn["a"][0], drawn["b"][0])
    assert not np.array_equal(drawn["a"][3], drawn["b"][3])


def test_integers_of_a_whole_dtype_begin_at_its_lowest() -> None:
    found = each_integer(-(2**63), 2**63 - 1, (2, 3), 1)
    assert [number + 2**63 for number in found.ravel().tolist()] == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("shape", [(64, 8, 8), (5, 1), (7,), (), (0, 3), (3, 0)])
def test_examples_are_sparse(shape: tuple[int, ...]) -> None:
    drawn = np.asarray(np.arange(1, 1 + math.prod(shape)).reshape(shape))
    made = sparse_rows(drawn, np.zeros_like(drawn), np.random.default_rng(0))
    assert (made.shape, made.dtype) == (drawn.shape, drawn.dtype)
    assert set(made.flat) <= {0, *drawn.flat}
    if drawn.size:
        counts = np.count_nonzero(made.reshape(shape[0] if len(shape) > 1 else 1, -1), axis=1)
        assert counts.min() >= 1
        assert counts.max() <= max(drawn.size // len(counts) // SPARSE_PART, 1) + 1
        assert shape != (64, 8, 8) or len(set(counts)) > 5
