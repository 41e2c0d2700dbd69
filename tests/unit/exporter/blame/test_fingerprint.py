"""Equal values have equal fingerprints, whatever their shape; others have not."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from modelexport_exporter.blame.fingerprint import distance, error_of, fingerprint

FLOATS = arrays(
    np.float32,
    array_shapes(max_dims=4, max_side=12),
    elements=st.floats(-1e6, 1e6, width=32),
)


@given(FLOATS)
def test_fingerprint_does_not_depend_on_the_shape(array: np.ndarray) -> None:
    flat = fingerprint(array.reshape(-1))
    assert distance(fingerprint(array), flat) == 0
    assert flat.size == array.size


@given(FLOATS, st.data())
def test_any_wrong_element_of_a_small_array_is_found(
    array: np.ndarray, data: st.DataObject
) -> None:
    array = array.reshape(-1)[:200]
    place = data.draw(st.integers(0, array.size - 1))
    other = array.copy()
    other[place] += 2 * max(1.0, float(np.abs(array).max()))
    assert distance(fingerprint(array), fingerprint(other)) > 0.5


@given(FLOATS)
def test_distance_of_rounding_is_small(array: np.ndarray) -> None:
    rounded = (array * np.float32(1 + 1e-6)).astype(np.float32)
    assert distance(fingerprint(array), fingerprint(rounded)) < 1e-5


TOLERANCE = 1e-4
LARGE = np.random.default_rng(0).normal(size=(3, 700, 900)).astype(np.float32)


def test_wrong_channel_of_a_large_array_is_found() -> None:
    other = LARGE.copy()
    other[1, 17] = -other[1, 17]
    assert distance(fingerprint(LARGE), fingerprint(other)) > 50 * TOLERANCE


def test_transposed_array_is_different() -> None:
    square = LARGE[0, :700, :700]
    assert distance(fingerprint(square), fingerprint(np.ascontiguousarray(square.T))) > 0.1


def test_fingerprint_is_small() -> None:
    kept = fingerprint(LARGE)
    assert kept.places.nbytes + kept.sums.nbytes <= 4096


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param([1.0, -np.inf], [1.0, -np.inf], 0.0, id="equal masks"),
        pytest.param(
            [1.0, -np.inf], [1.0, float(np.finfo(np.float32).min)], 0.0, id="mask of another number"
        ),
        pytest.param([1.0, np.nan], [1.0, 2.0], math.inf, id="NaN on one side"),
        pytest.param([1.0, 2.0], [1.0, 2.0, 3.0], math.inf, id="another size"),
        pytest.param([0.0, 0.0], [0.0, 0.0], 0.0, id="zeros"),
        pytest.param([4.0, 0.0], [4.0, 1.0], 0.25, id="relative to the peak"),
    ],
)
def test_distance(one: list[float], other: list[float], expected: float) -> None:
    prints = [fingerprint(np.array(item, dtype=np.float32)) for item in (one, other)]
    assert distance(*prints) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("array", "telling"),
    [
        pytest.param(np.array([0.5, 0.25], np.float32), True, id="floats"),
        pytest.param(np.array([0.5, 0.25], ml_dtypes.bfloat16), True, id="bfloat16"),
        pytest.param(np.zeros(8, np.float32), False, id="zeros"),
        pytest.param(np.float32(2.0).reshape(()), False, id="a whole number"),
        pytest.param(np.float32(0.37).reshape(()), True, id="a loss"),
        pytest.param(np.array([2, 3, 8, 8]), False, id="a shape"),
        pytest.param(np.ones(1000, bool), False, id="a mask"),
        pytest.param(np.arange(1000), True, id="tokens"),
    ],
)
def test_distinctive_values(array: np.ndarray, telling: bool) -> None:
    assert fingerprint(array).is_distinctive is telling


@pytest.mark.parametrize(
    ("expected", "got", "error"),
    [
        pytest.param([2.0, 4.0], [2.0, 3.0], 0.25, id="relative to the peak"),
        pytest.param([np.inf, 1.0], [np.inf, 1.0], 0.0, id="the same infinity"),
        pytest.param([np.inf, 1.0], [-np.inf, 1.0], math.inf, id="the other infinity"),
        pytest.param([np.nan, 1.0], [np.nan, 1.0], 0.0, id="NaN on both sides"),
        pytest.param([0.0, 0.0], [0.0, 1e-9], 1.0, id="nonzero for zero"),
        pytest.param([1.0], [[1.0]], math.inf, id="another shape"),
    ],
)
def test_error(expected: object, got: object, error: float) -> None:
    assert error_of(np.array(expected), np.array(got)) == pytest.approx(error)
