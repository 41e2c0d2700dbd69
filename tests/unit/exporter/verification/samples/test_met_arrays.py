"""Equal arrays are met once; a sign, a NaN, a dtype or a shape is a difference."""

from __future__ import annotations

from itertools import combinations

import ml_dtypes
import numpy as np
import pytest

from modelexport_exporter.verification.samples.met_arrays import MOST_BYTES, Array, MetArrays

ZERO = np.zeros(2, np.float32)
DIFFERENT: dict[str, dict[str, Array]] = {
    "zero": {"x": ZERO},
    "minus zero": {"x": -ZERO},
    "NaN": {"x": ZERO * np.nan},
    "integers": {"x": np.zeros(2, np.int32)},
    "bfloat16": {"x": np.zeros(2, ml_dtypes.bfloat16)},
    "float16": {"x": np.zeros(2, np.float16)},
    "column": {"x": np.zeros((2, 1), np.float32)},
    "row": {"x": np.zeros((1, 2), np.float32)},
    "other name": {"y": ZERO},
    "two": {"x": ZERO, "y": ZERO},
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_equal_arrays_are_met_once(name: str) -> None:
    met = MetArrays()
    assert met.is_new(DIFFERENT[name])
    assert not met.is_new({key: array.copy() for key, array in DIFFERENT[name].items()})


@pytest.mark.parametrize(("one", "other"), list(combinations(DIFFERENT, 2)))
def test_different_arrays_are_new(one: str, other: str) -> None:
    met = MetArrays()
    met.is_new(DIFFERENT[one])
    assert met.is_new(DIFFERENT[other])


def test_large_arrays_are_always_new() -> None:
    met = MetArrays()
    large = {"x": np.zeros(MOST_BYTES + 1, np.uint8)}
    assert met.is_new(large)
    assert met.is_new(large)


def test_the_order_of_a_transposed_array_counts() -> None:
    met = MetArrays()
    square = np.arange(4).reshape(2, 2)
    met.is_new({"x": square})
    assert met.is_new({"x": square.T})
    assert not met.is_new({"x": np.asfortranarray(square)})
