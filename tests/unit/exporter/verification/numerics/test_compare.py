from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from modelexport_exporter.core.comparison import OutputComparison, ProblemKind
from modelexport_exporter.verification.numerics import compare
from modelexport_exporter.verification.numerics.compare import compare_output, peak_of
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate
from modelexport_exporter.verification.numerics.tolerance import Tolerance

Array = NDArray[Any]
F32 = np.float32
TOLERANCE = Tolerance(rtol=1e-3, atol=0.0, source="Default")

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
FLOAT_DTYPES = st.sampled_from([np.dtype(n) for n in ("float16", "float32", "float64")])
ANY_FLOATS = FLOAT_DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, SHAPES))
FINITE = hnp.arrays(
    F32,
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=5),
    elements=st.floats(-1000, 1000, width=32),
)
INTEGERS = hnp.arrays(
    st.sampled_from([np.dtype(n) for n in ("int8", "uint8", "int32", "int64", "bool")]), SHAPES
)


def text_of(result: OutputComparison) -> str:
    assert result.problem is not None
    return result.problem.text


@given(st.one_of(ANY_FLOATS, INTEGERS))
def test_reflexive(array: Array) -> None:
    result = compare_output("y", array, array.copy(), TOLERANCE)
    assert result.problem is None
    assert result.max_abs_error == result.max_rel_error == 0


@given(FINITE, st.data())
def test_element_beyond_the_limit_is_always_found(array: Array, data: st.DataObject) -> None:
    index = data.draw(st.tuples(*(st.integers(0, side - 1) for side in array.shape)))
    limit = TOLERANCE.limit(peak_of(array))
    wrong = array.copy()
    wrong[index] = np.float32(array[index] + 2 * limit + 1e-3)
    result = compare_output("y", array, wrong, TOLERANCE)
    assert str([int(i) for i in index]) in text_of(result)
    assert result.max_abs_error > result.limit


@given(FINITE, st.integers(0, 2**32 - 1))
def test_errors_within_the_limit_pass(array: Array, seed: int) -> None:
    limit = TOLERANCE.limit(peak_of(array))
    noise = np.random.default_rng(seed).uniform(-0.9, 0.9, array.shape) * limit
    near = (array + noise).astype(F32)
    assume(np.all(np.abs(near.astype(float) - array) <= limit))
    assert compare_output("y", array, near, TOLERANCE).problem is None


@given(FINITE, st.data(), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_positions_of_nan_and_infinities_are_compared_both_ways(
    array: Array, data: st.DataObject, special: float
) -> None:
    index = data.draw(st.tuples(*(st.integers(0, side - 1) for side in array.shape)))
    masked = array.copy()
    masked[index] = special
    loose = Tolerance(rtol=1.0, atol=1e30, source="Spec")
    for expected, got in ((array, masked), (masked, array)):
        result = compare_output("y", expected, got, loose)
        assert str([int(i) for i in index]) in text_of(result)
        assert np.isfinite(result.max_abs_error)
    assert compare_output("y", masked, masked.copy(), TOLERANCE).problem is None


@given(INTEGERS, st.data())
def test_integers_and_booleans_must_be_equal(array: Array, data: st.DataObject) -> None:
    assume(array.size)
    index = data.draw(st.tuples(*(st.integers(0, side - 1) for side in array.shape)))
    wrong = array.copy()
    wrong[index] = not array[index] if array.dtype == bool else array[index] ^ 1
    result = compare_output("y", array, wrong, Tolerance(1.0, 1e9, "Spec"))
    assert result.problem
    assert result.max_abs_error == 1
    assert result.limit == 0


@pytest.mark.parametrize(
    ("expected", "got", "problem"),
    [
        pytest.param(
            np.zeros((2, 3), F32), np.zeros((1, 3), F32), "shape is [1, 3], eager returns [2, 3]",
            id="a shape that would broadcast",
        ),
        pytest.param(
            np.zeros((), F32), np.zeros((1,), F32), "shape is [1], eager returns []", id="a scalar"
        ),
        pytest.param(
            np.zeros((0, 3), F32), np.zeros((0, 4), F32), "shape is [0, 4], eager returns [0, 3]",
            id="empty ones of different shape",
        ),
        pytest.param(
            np.zeros(3, np.int64), np.zeros(3, np.int32), "dtype is int32, eager returns int64",
            id="a dtype",
        ),
        pytest.param(
            np.zeros(3, F32), np.zeros(3, ml_dtypes.bfloat16), "dtype is bfloat16, eager returns "
            "float32", id="bfloat16 for float32",
        ),
        pytest.param(
            np.array([[1, 2], [3, 4]], F32), np.array([[1, 2], [3.5, 4]], F32),
            "at [1, 0] got 3.5, eager returns 3 (off by 0.5, allowed 0.004); 1 of 4 elements "
            "differ", id="a value",
        ),
        pytest.param(
            np.array([1.5, np.nan], F32), np.array([1.5, 7], F32),
            "at [1] got 7, eager returns nan; 1 of 2 elements differ", id="a number for NaN",
        ),
        pytest.param(
            np.array([np.inf], F32), np.array([-np.inf], F32), "at [0] got -inf, eager returns inf",
            id="the other infinity",
        ),
        pytest.param(
            np.array([np.nan, 1.0], F32), np.array([np.inf, 1.0], F32),
            "at [0] got inf, eager returns nan; 1 of 2 elements differ", id="infinity for NaN",
        ),
        pytest.param(
            np.array([3, 7], np.uint8), np.array([3, 250], np.uint8),
            "at [1] got 250, eager returns 7; 1 of 2 elements differ", id="unsigned integers",
        ),
        pytest.param(
            np.array(True), np.array(False), "got False, eager returns True", id="a scalar boolean"
        ),
    ],
)  # fmt: skip
def test_problem_text_names_position_and_values(expected: Array, got: Array, problem: str) -> None:
    result = compare_output("y", expected, got, TOLERANCE)
    assert text_of(result) == problem
    json.dumps(asdict(result), allow_nan=False)  # what goes into reports must be JSON


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (np.array([1.0]), np.array([1.0], F32), ProblemKind.DTYPE),
        (np.array([1.0]), np.array([1.0, 1.0]), ProblemKind.SHAPE),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), ProblemKind.NOT_FINITE),
        (np.array([1.0, np.nan]), np.array([3.0, 2.0]), ProblemKind.VALUES),
        (np.array([1.0]), np.array([2.0]), ProblemKind.VALUES),
        (np.array([1]), np.array([2]), ProblemKind.VALUES),
    ],
)
def test_problem_kind(expected: Array, got: Array, kind: ProblemKind) -> None:
    problem = compare_output("y", expected, got, TOLERANCE).problem
    assert problem is not None
    assert problem.kind is kind


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision(dtype: type[np.generic]) -> None:
    array = np.linspace(-2, 2, 50).astype(dtype)
    near, far = array.copy(), array.copy()
    near[3] = float(near[3]) * 1.008
    far[3] = 0.5
    tolerance = Tolerance(2e-2, 0.0, "Default")
    assert compare_output("y", array, near, tolerance).problem is None
    result = compare_output("y", array, far, tolerance)
    assert text_of(result).startswith("at [3] got 0.5, eager returns")


def test_difference_of_integers_does_not_overflow() -> None:
    low, high = np.array([-(2**63)]), np.array([2**63 - 1])
    assert compare_output("y", low, high, TOLERANCE).max_abs_error == float(2**64 - 1)
    unsigned = compare_output("y", np.array([1], np.uint8), np.array([255], np.uint8), TOLERANCE)
    assert unsigned.max_abs_error == 254


def test_limit_is_relative_to_the_largest_finite_magnitude() -> None:
    array = np.array([1e-6, -2e-6, np.inf], F32)
    wrong = np.array([1e-6, -1e-6, np.inf], F32)
    result = compare_output("y", array, wrong, TOLERANCE)
    assert result.limit == pytest.approx(2e-9)
    assert result.max_rel_error == pytest.approx(0.5, rel=1e-3)
    assert result.problem


def test_rounding_error_on_degenerate_inputs_is_relative_to_the_ordinary_peak() -> None:
    nothing, noise = np.zeros(4, F32), np.full(4, 3e-8, F32)
    assert compare_output("y", nothing, noise, TOLERANCE).problem
    assert compare_output("y", nothing, noise, TOLERANCE, ordinary_peak=2.0).problem is None


def test_worst_element_is_reported_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "BLOCK", 7)
    array = np.ones((5, 10), F32)
    wrong = array.copy()
    wrong[0, 3], wrong[4, 2], wrong[4, 9] = 1.1, 9.0, 1.2
    result = compare_output("y", array, wrong, TOLERANCE)
    assert text_of(result) == (
        "at [4, 2] got 9, eager returns 1 (off by 8, allowed 0.001); 3 of 50 elements differ"
    )


CALIBRATED = Tolerance(1e-6, 0.0, "Calibrated", multiple=8.0, unsettled_from=1e-3)


def estimate_with(expected: Array, moved: dict[int, float]) -> NoiseEstimate:
    """Return the estimate of an output whose elements move by these distances."""
    own = expected.astype(np.float64)
    for place, distance in moved.items():
        own[place] += distance
    estimate = NoiseEstimate(expected)
    estimate.add(own)
    return estimate


@pytest.mark.parametrize(
    ("moved", "errors", "problem", "inconclusive"),
    [
        pytest.param({}, {3: 5e-7}, False, False, id="below the floor"),
        pytest.param({}, {3: 5e-6}, True, False, id="above the floor, no noise"),
        pytest.param({7: 1e-6}, {3: 5e-6}, False, False, id="within a multiple of the noise"),
        pytest.param({7: 1e-6}, {3: 9e-6}, True, False, id="beyond it"),
        pytest.param({3: 0.5}, {3: 0.5}, False, False, id="an element that depends on rounding"),
        pytest.param({3: 0.5}, {4: 0.5}, True, False, id="another element"),
        pytest.param(
            {0: 0.5, 1: 0.5, 2: 0.5, 3: 0.5}, {9: 0.5}, False, False, id="one in four is explained"
        ),
        pytest.param(
            {0: 0.5, 1: 0.5, 2: 0.5, 3: 0.5}, {8: 0.5, 9: 0.5}, True, False, id="two are not"
        ),
        pytest.param(dict.fromkeys(range(11), 0.5), {50: 0.5}, False, True, id="too many"),
        pytest.param({3: 0.002}, {3: 0.1}, False, False, id="as far as rounding moves elements"),
    ],
)
def test_limit_follows_the_models_own_rounding_error(
    moved: dict[int, float], errors: dict[int, float], problem: bool, inconclusive: bool
) -> None:
    expected = np.ones(100, F32)
    got = expected.copy()
    for place, error in errors.items():
        got[place] += F32(error)
    estimate = estimate_with(expected, moved)
    result = compare_output("y", expected, got, CALIBRATED, estimate=estimate)
    assert (bool(result.problem), bool(result.inconclusive)) == (problem, inconclusive)
    assert result.unsettled == sum(distance > 1e-3 for distance in moved.values())


@pytest.mark.parametrize("wrong", [0.5, np.nan])
@pytest.mark.parametrize("unsettled", [1, 50], ids=["one element", "most elements"])
def test_rounding_explains_no_error_that_is_much_larger_than_what_it_moves(
    unsettled: int, wrong: float
) -> None:
    expected = np.ones(100, F32)
    got = expected.copy()
    got[0] += F32(wrong)
    estimate = estimate_with(expected, dict.fromkeys(range(unsettled), 0.002))
    result = compare_output("y", expected, got, CALIBRATED, estimate=estimate)
    assert result.problem
    assert not result.inconclusive


def test_integers_that_change_with_rounding_do_not_count() -> None:
    expected = np.arange(100)
    estimate = NoiseEstimate(expected)
    estimate.add(np.where(expected == 7, 8, expected))
    flipped, wrong = (np.where(expected == place, 0, expected) for place in (7, 9))
    exact = Tolerance(0.0, 0.0, "Calibrated")
    assert not compare_output("y", expected, flipped, exact, estimate=estimate).problem
    assert compare_output("y", expected, wrong, exact, estimate=estimate).problem


def test_shape_that_changes_with_rounding_is_inconclusive() -> None:
    expected, got = np.ones(5, F32), np.ones(6, F32)
    estimate = NoiseEstimate(expected)
    assert compare_output("y", expected, got, CALIBRATED, estimate=estimate).problem
    estimate.add(np.ones(4))
    result = compare_output("y", expected, got, CALIBRATED, estimate=estimate)
    assert not result.problem
    assert "shape changes with rounding" in result.inconclusive
