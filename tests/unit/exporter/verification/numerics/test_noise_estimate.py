from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate

F32 = np.float32


def spread_of(expected: list[float], *others: list[float]) -> NoiseEstimate:
    estimate = NoiseEstimate(np.array(expected, F32))
    for other in others:
        estimate.add(np.array(other, np.float64))
    return estimate


@pytest.mark.parametrize(
    ("expected", "others", "bound", "noise", "unsettled"),
    [
        pytest.param([1, 2], [], 1.0, 0.0, None, id="no other run"),
        pytest.param([1, 2], [[1, 2]], 1.0, 0.0, None, id="exact"),
        pytest.param([1, 2], [[1.25, 2]], 1.0, 0.25, None, id="noise"),
        pytest.param([1, 2], [[1.25, 2], [1, 2.5]], 1.0, 0.5, None, id="the largest of all runs"),
        pytest.param([1, 2], [[1.25, 7]], 1.0, 0.25, [False, True], id="one depends on rounding"),
        pytest.param([1, np.nan], [[1, np.nan]], 1.0, 0.0, None, id="NaN is settled"),
        pytest.param([1, np.inf], [[1, np.inf]], 1.0, 0.0, None, id="infinity is settled"),
        pytest.param([1, np.nan], [[1, 3]], 1.0, 0.0, [False, True], id="NaN or a number"),
        pytest.param([1, np.inf], [[1, 1e38]], 1.0, 0.0, [False, True], id="overflow or not"),
    ],
)
def test_settled(
    expected: list[float],
    others: list[list[float]],
    bound: float,
    noise: float,
    unsettled: list[bool] | None,
) -> None:
    settled = spread_of(expected, *others).settled(bound)
    assert settled.noise == pytest.approx(noise)
    mask = settled.unsettled
    assert (mask.tolist() if mask is not None else None) == unsettled
    assert settled.count == sum(unsettled or [])


def test_integers_that_flip_are_unsettled() -> None:
    estimate = NoiseEstimate(np.array([3, 4, 5]))
    estimate.add(np.array([3, 9, 5]))
    settled = estimate.settled(0.0)
    assert settled.unsettled is not None
    assert settled.unsettled.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("expected", "found", "noise", "unsettled"),
    [
        pytest.param([1, 2, 3], [1.25, 2, 2.5, 3], 0.0, [True, False, False], id="one more"),
        pytest.param([1, 2, 3, 4], [1, 3.125, 4.25], 0.25, [False, True, False, False], id="less"),
        pytest.param([5, 1, 9], [9, 5], 0.0, [False, True, False], id="in another order"),
        pytest.param([1, 2], [], 0.0, None, id="nothing was found"),
        pytest.param([1, 2], [2, 1, 7], 0.0, None, id="all are there"),
        pytest.param([1, np.nan], [1, np.nan, 1], 0.0, None, id="NaN"),
    ],
)
def test_numbers_of_another_shape_are_compared_with_the_nearest(
    expected: list[float], found: list[float], noise: float, unsettled: list[bool] | None
) -> None:
    estimate = spread_of(expected, found)
    assert estimate.reshaped
    settled = estimate.settled(1.0)
    assert settled.noise == pytest.approx(noise)
    mask = settled.unsettled
    assert (mask.tolist() if mask is not None else None) == unsettled


FLOATS = hnp.arrays(F32, 6, elements=st.floats(-1e3, 1e3, width=32))


@given(FLOATS, FLOATS, FLOATS)
def test_more_runs_never_reduce_noise(
    expected: NDArray[F32], one: NDArray[F32], other: NDArray[F32]
) -> None:
    estimate = NoiseEstimate(expected)
    estimate.add(one)
    before = estimate.settled(0.5)
    estimate.add(other)
    after = estimate.settled(0.5)
    assert after.count >= before.count
    if before.unsettled is not None:
        assert after.unsettled is not None
        assert not (before.unsettled & ~after.unsettled).any()


def test_errors_of_kernels_are_noise_of_slices() -> None:
    estimate = NoiseEstimate(np.array([[1, 2], [3, 4]], F32))
    estimate.add(np.array([[1, 2.5], [3, 4]]))
    estimate.add_kernel_errors(np.array([[1.25, 2], [3, 4]], F32))
    settled = estimate.settled(1.0)
    assert settled.noise == pytest.approx(0.5)
    assert estimate.kernel_noise(settled) == pytest.approx(0.25)
    assert estimate.noise_along(1, settled).tolist() == pytest.approx([0.25, 0.5])
    assert estimate.elements_along(1) == len(estimate.noise_along(0, settled))
