from __future__ import annotations

import pytest

from modelexport_api.spec import Tolerance as SpecTolerance
from modelexport_exporter.verification.numerics.tolerance import (
    FLOORS,
    UNCALIBRATED,
    UNSETTLED,
    choose_tolerance,
)


@pytest.mark.parametrize(
    ("output", "computed_in", "calibrated", "uncalibrated"),
    [
        pytest.param("float32", ["float32"], 8e-6, 2e-4, id="float32"),
        pytest.param("float64", ["float64"], 2e-12, 2e-10, id="float64"),
        pytest.param("float64", ["resampled"], 2e-9, 2e-9, id="resampled float64"),
        pytest.param("float16", [], 1e-2, 2e-2, id="float16"),
        pytest.param("bfloat16", ["bfloat16"], 8e-2, 1e-1, id="bfloat16"),
        pytest.param("float32", ["float16", "float32"], 1e-2, 2e-2, id="half weights"),
        pytest.param("float32", ["float64"], 8e-6, 2e-4, id="output rounds last"),
        pytest.param("float32", ["int64", "float32"], 8e-6, 2e-4, id="integers do not count"),
        pytest.param("int64", [], 0.0, 0.0, id="integers"),
    ],
)
def test_smallest_limit_at_a_peak_of_two(
    output: str, computed_in: list[str], calibrated: float, uncalibrated: float
) -> None:
    known = choose_tolerance(None, output, computed_in)
    unknown = choose_tolerance(None, output, computed_in, calibrated=False)
    assert known.limit(2.0) == pytest.approx(calibrated)
    assert unknown.limit(2.0) == pytest.approx(uncalibrated)
    assert (known.source, unknown.source) == ("Calibrated", "Default")
    assert unknown.multiple == 0.0


@pytest.mark.parametrize(
    ("declared", "limit"),
    [
        pytest.param(SpecTolerance(rtol=0.01, atol=0.5), 0.52, id="declared"),
        pytest.param(SpecTolerance(), 0.0, id="zero means equal"),
    ],
)
def test_declared_tolerance_is_not_calibrated(declared: SpecTolerance, limit: float) -> None:
    tolerance = choose_tolerance(declared, "float16", ["bfloat16"])
    assert tolerance.limit(2.0) == pytest.approx(limit)
    assert tolerance.source == "Spec"
    assert tolerance.multiple == 0.0
    assert tolerance.unsettled_from == float("inf")


@pytest.mark.parametrize(
    ("dtype", "limit"), [("float64", 2.0**-51), ("float32", 2.0**-22), ("float16", 2.0**-22)]
)
def test_results_of_a_bounded_function_have_an_absolute_limit(dtype: str, limit: float) -> None:
    assert choose_tolerance(None, dtype, (), bounded=True).limit(0.0) == limit
    assert choose_tolerance(None, dtype, ()).limit(0.0) == 0.0


def test_floors_are_below_uncalibrated_and_unsettled_limits() -> None:
    for dtype, floor in FLOORS.items():
        assert floor <= UNCALIBRATED[dtype] < UNSETTLED[dtype]


def test_less_precise_types_have_higher_floors() -> None:
    ordered = [FLOORS[name] for name in ("float64", "float32", "float16", "bfloat16")]
    assert ordered == sorted(ordered)
