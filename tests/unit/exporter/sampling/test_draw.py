from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modelexport_api.reasons import Reason
from modelexport_api.spec import DType, Input
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import FLOATS, NUMPY_DTYPES, draw, integer_range

TOKENS = Input(name="ids", dtype=DType.INT64, shape=["batch", "seq"], range=[0, 30521])
RANGES = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted)


@given(
    dtype=st.sampled_from([dtype for dtype in DType if dtype in FLOATS]),
    declared=RANGES,
    values=st.sampled_from(Values),
    size=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
def test_floats_are_within_their_range(
    dtype: DType, declared: list[float], values: Values, size: int, seed: int
) -> None:
    entry = Input(name="x", dtype=dtype, shape=["n"], range=declared)
    array = draw([entry], Sample({"n": size}, values, seed))["x"]
    limits = ml_dtypes.finfo(NUMPY_DTYPES[dtype])  # type: ignore[no-untyped-call]
    low, high = np.clip(declared, float(limits.min), float(limits.max)).astype(array.dtype)
    assert array.dtype == NUMPY_DTYPES[dtype]
    assert array.shape == (size,)
    assert np.all(array >= low)
    assert np.all(array <= high)
    if size > 1 and values is Values.LARGE:
        assert {float(low), float(high)} <= set(array.astype(float).tolist())


@given(
    dtype=st.sampled_from([dtype for dtype in NUMPY_DTYPES if NUMPY_DTYPES[dtype].kind in "iub"]),
    declared=st.tuples(st.integers(-200, 300), st.integers(0, 300)),
    values=st.sampled_from(Values),
    size=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
def test_integers_are_within_their_range_with_both_ends(
    dtype: DType, declared: tuple[int, int], values: Values, size: int, seed: int
) -> None:
    low, high = declared[0], declared[0] + declared[1]
    entry = Input(name="x", dtype=dtype, shape=["n"], range=[low, high])
    limits = (0, 1) if dtype is DType.BOOL else _limits(dtype)
    assume(max(low, limits[0]) <= min(high, limits[1]))
    smallest, largest = integer_range(entry)
    array = draw([entry], Sample({"n": size}, values, seed))["x"]
    assert array.dtype == NUMPY_DTYPES[dtype]
    assert all(max(low, smallest) <= int(item) <= min(high, largest) for item in array)
    if size > 1 and values is Values.LARGE:
        assert {smallest, largest} <= {int(item) for item in array}


def _limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(NUMPY_DTYPES[dtype])
    return int(limits.min), int(limits.max)


@pytest.mark.parametrize(
    ("dtype", "declared", "expected"),
    [
        pytest.param(DType.INT64, None, (0, 1), id="0 and 1 without a range"),
        pytest.param(DType.INT64, [0.5, 2.7], (1, 2), id="fractional range"),
        pytest.param(DType.UINT8, [-5, 300], (0, 255), id="range beyond the dtype is clipped"),
        pytest.param(DType.INT64, [-1e30, 1e30], (-(2**63), 2**63 - 1), id="all of int64"),
        pytest.param(DType.BOOL, [0, 5], (0, 1), id="bool"),
    ],
)
def test_integer_ranges(
    dtype: DType, declared: list[float] | None, expected: tuple[int, int]
) -> None:
    entry = Input(name="x", dtype=dtype, shape=["n"], range=declared)
    assert integer_range(entry) == expected
    array = draw([entry], Sample({"n": 50}, Values.LARGE, 0))["x"]
    assert {int(item) for item in array} == set(expected)


def test_range_without_integers_is_an_invalid_manifest() -> None:
    entry = Input(name="x", dtype=DType.INT32, shape=[], range=[0.2, 0.8])
    with pytest.raises(ExportFailure, match="no int32 is in the range") as caught:
        integer_range(entry)
    assert caught.value.reason is Reason.INVALID_MANIFEST


def test_arrays_depend_on_the_seed_only() -> None:
    sample = Sample({"batch": 7, "seq": 23}, Values.NORMAL, 3)
    first, again = draw([TOKENS], sample)["ids"], draw([TOKENS], sample)["ids"]
    other = draw([TOKENS], Sample(sample.dims, sample.values, 4))["ids"]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_inputs_of_the_same_shape_get_different_arrays() -> None:
    inputs = [Input(name="a", shape=[20]), Input(name="b", shape=[20])]
    arrays = draw(inputs, Sample({}, Values.NORMAL, 0))
    assert not np.array_equal(arrays["a"], arrays["b"])


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.INT64])
@pytest.mark.parametrize("seed", range(8))
def test_first_elements_and_extremes_differ_between_inputs(dtype: DType, seed: int) -> None:
    inputs = [
        Input(name=name, dtype=dtype, shape=["n"], range=[-1000, 1000]) for name in ("x", "y", "z")
    ]
    drawn = [draw(inputs, Sample({"n": 5}, Values.NORMAL, seed + step)) for step in range(8)]
    for pick in (lambda x: x[0], lambda x: x[-1], max, min):
        rows = [[pick(array) for array in arrays.values()] for arrays in drawn]
        assert len({tuple(row) for row in rows}) > 3
        assert sum(len(set(row)) > 1 for row in rows) > 3
