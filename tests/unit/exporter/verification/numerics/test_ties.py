"""Breaking ties: distinct values, inside their range, close to what they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.spec import DType, Input
from modelexport_exporter.sampling.draw import NUMPY_DTYPES
from modelexport_exporter.verification.numerics.ties import break_ties


@given(
    dtype=st.sampled_from([DType.FLOAT32, DType.FLOAT64]),
    value=st.floats(-100, 100),
    size=st.integers(2, 200),
    seed=st.integers(0, 9),
)
def test_constant_floats_become_distinct_and_stay_close(
    dtype: DType, value: float, size: int, seed: int
) -> None:
    entry = Input(name="x", dtype=dtype, shape=[size])
    tied = np.full(size, value, NUMPY_DTYPES[dtype])
    apart = break_ties([entry], {"x": tied}, seed)
    assert apart is not None
    assert np.unique(apart["x"]).size == size
    assert np.abs(apart["x"] - value).max() <= 0.05 * max(abs(value), 1)
    assert apart["x"].dtype == tied.dtype


@given(value=st.sampled_from([0.0, 0.3, 1.0]), size=st.integers(2, 100))
def test_broken_ties_are_within_the_range(value: float, size: int) -> None:
    entry = Input(name="x", shape=[size], range=[0, 1])
    apart = break_ties([entry], {"x": np.full(size, value, np.float32)}, 0)
    assert apart is not None
    assert 0 <= apart["x"].min() <= apart["x"].max() <= 1
    assert np.unique(apart["x"]).size == size


@pytest.mark.parametrize(
    ("low", "high", "distinct"),
    [
        pytest.param(0, 50, True, id="wide range"),
        pytest.param(0, 3, False, id="narrow range"),
        pytest.param(-(2**62), 2**62, True, id="range of int64"),
        pytest.param(2**60, 2**62, True, id="large numbers only"),
    ],
)
def test_integers_become_distinct_if_the_range_allows(low: int, high: int, distinct: bool) -> None:
    entry = Input(name="i", dtype=DType.INT64, shape=[10], range=[low, high])
    apart = break_ties([entry], {"i": np.full(10, low)}, 0)
    assert (apart is not None) is distinct
    if apart is not None:
        assert sorted(set(apart["i"].tolist())) == sorted(apart["i"].tolist())
        assert low <= apart["i"].min() <= apart["i"].max() <= high


def test_distinct_values_stay() -> None:
    entry = Input(name="x", shape=[4])
    assert break_ties([entry], {"x": np.arange(4, dtype=np.float32)}, 0) is None


def test_large_integers_that_differ_by_one_are_distinct() -> None:
    entry = Input(name="i", dtype=DType.INT64, shape=[2], range=[-(2**62), 2**62])
    assert break_ties([entry], {"i": np.array([2**60, 2**60 + 1])}, 0) is None
