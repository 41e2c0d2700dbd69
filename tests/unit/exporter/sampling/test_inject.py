from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.sampling.inject import (
    InjectedValues,
    inject,
    inject_named,
    sample_count,
)

Array = NDArray[Any]


def entry(**fields: Any) -> Input:  # noqa: ANN401
    return Input.model_validate({"name": "x", "shape": [1000], **fields})


@pytest.mark.parametrize(
    ("declared", "array", "found"),
    [
        pytest.param({}, np.zeros(1000, np.float32), {0.0, 0.5, 6.0}, id="floats"),
        pytest.param({"range": [0, 1]}, np.zeros(1000, np.float32), {0.0, 0.5}, id="within range"),
        pytest.param(
            {"dtype": "int64", "range": [0, 9]},
            np.zeros(1000, np.int64),
            {0, 2, 3, 4},
            id="integers",
        ),
        pytest.param({"dtype": "bool"}, np.zeros(1000, np.bool_), {False}, id="booleans"),
        pytest.param({}, np.zeros(0, np.float32), set(), id="empty"),
    ],
)
def test_injection_keeps_dtype_range_and_half_of_the_elements(
    declared: dict[str, Any], array: Array, found: set[float]
) -> None:
    injected_values = InjectedValues(constants=(0.5, 6.0), compared=(3, 40))
    injected = inject([entry(**declared)], {"x": array}, injected_values, number=1)["x"]
    assert injected.dtype == array.dtype
    assert set(injected.tolist()) == found
    assert np.array_equal(
        injected, inject([entry(**declared)], {"x": array}, injected_values, number=1)["x"]
    )


def test_each_value_occurs_before_one_repeats() -> None:
    injected_values = InjectedValues(constants=tuple(float(value) for value in range(1, 41)))
    injected = inject([entry()], {"x": np.zeros(100, np.float32)}, injected_values, number=1)["x"]
    assert set(injected.tolist()) == {0.0, *injected_values.constants}


@pytest.mark.parametrize(("size", "expected"), [(1000, 2), (20, 2), (10, 4), (4, 9), (1, 18)])
def test_values_are_distributed_over_as_many_samples_as_needed(size: int, expected: int) -> None:
    injected_values = InjectedValues(
        constants=(3.0, 5.0), halves=tuple(value / 64 for value in range(1, 17))
    )
    declared = [entry(shape=["batch"])]
    count = sample_count(declared, {"batch": size}, injected_values)
    assert count == expected
    arrays = [
        inject(declared, {"x": np.zeros(size, np.float32)}, injected_values, number)["x"]
        for number in range(count)
    ]
    if count < 64:
        assert {*injected_values.constants, *injected_values.halves} <= set(
            np.concatenate(arrays).tolist()
        )


def test_constants_are_injected_before_halves() -> None:
    injected_values = InjectedValues(
        constants=(3.0, 5.0), halves=tuple(value / 64 for value in range(1, 60))
    )
    injected = inject(
        [entry(shape=[10])], {"x": np.zeros(10, np.float32)}, injected_values, number=0
    )["x"]
    assert {3.0, 5.0} <= set(injected.tolist())


def test_numbers_of_the_model_meet_in_one_row() -> None:
    ids = {"dtype": "int64", "range": [0, 500]}
    inputs = [entry(name="country", **ids), entry(name="device", **ids)]
    drawn = {name: np.zeros(1000, np.int64) for name in ("country", "device")}
    named = InjectedValues(named=(117.0, 3.0, 42.0, 0.5), compared=(9,))
    found = inject_named(inputs, drawn, named, seed=1)
    rows = set(zip(found["country"].tolist(), found["device"].tolist(), strict=True))
    assert rows >= {(a, b) for a in (117, 3, 42, 9) for b in (117, 3, 42, 9)}
    assert any(0 in row for row in rows)


def test_rules_are_met_beside_their_integers() -> None:
    inputs = [entry(dtype="int64", range=[0, 100])]
    named = InjectedValues(compared=(50, 99))
    found = inject_named(inputs, {"x": np.full(1000, 7, np.int64)}, named, seed=1)["x"]
    assert set(found.tolist()) == {0, 1, 7, 49, 50, 51, 98, 99, 100}


@pytest.mark.parametrize(
    ("declared", "array", "met"),
    [
        ({"dtype": "float64", "range": [1.6e9, 1.9e9]}, np.float64, 1.0),
        ({"dtype": "int64", "range": [1.6e9, 1.9e9]}, np.int64, 1.0),
        ({"dtype": "float64", "range": [-1e6, 1e6]}, np.float64, 1.0),
        ({"dtype": "int64", "range": [-100, 100]}, np.int64, 0.0),
        ({"dtype": "float64"}, np.float64, 0.0),
    ],
)
def test_multiples_of_periods_are_met(
    declared: dict[str, Any], array: type[Any], met: float
) -> None:
    injected = InjectedValues(periods=(86_400.0,))
    drawn = {"x": np.full(1000, 1.65e9 + 7 if met else 7, array)}
    found = inject([entry(**declared)], drawn, injected, number=0)["x"]
    assert bool((found % 86_400 == 0).any()) is bool(met)
    if array is np.float64 and met:
        below = 86_400 - found % 86_400
        assert {0.25, 0.0003} <= set(below.round(5).tolist())


def test_numbers_of_the_model_in_floats() -> None:
    named = InjectedValues(constants=(7.0,), named=(3.5,), limits=(0.5,), lost=(117.0, 9e9))
    inputs = [entry(range=[0, 1000])]
    found = inject_named(inputs, {"x": np.full(1000, 3.0, np.float32)}, named, seed=1)["x"]
    assert {0.0, 0.5, 117.0, 3.0} <= set(found.tolist())
    near = [np.abs(found - number) <= max(number, 1.0) for number in (0.5, 117.0)]
    assert np.logical_or.reduce([*near, found == 3.0]).all()
    numbers = np.array([0.5, 117], np.float32)
    above = np.nextafter(numbers, np.float32(np.inf)).tolist()
    below = np.nextafter(numbers, np.float32(-np.inf)).tolist()
    assert {*above, *below} <= set(found.tolist())
    assert found.dtype == np.float32
    assert (found >= 0).all()


def test_numbers_next_to_those_of_the_model() -> None:
    inputs = [entry(dtype="int64", range=[0, 500])]
    drawn = {"x": np.full(1000, 300, np.int64)}
    found = inject_named(inputs, drawn, InjectedValues(compared=(117,)), seed=1)["x"]
    assert set(found.tolist()) == {0, 1, 116, 117, 118, 300}


def test_numbers_of_a_column_stay_in_it() -> None:
    inputs = [entry(dtype="int64", range=[0, 500], shape=[1000, 3])]
    drawn = {"x": np.full((1000, 3), 300, np.int64)}
    values = InjectedValues(reaching={"x": {0: (42,), 2: (7, 9000)}})
    found = inject_named(inputs, drawn, values, seed=1)["x"]
    assert (np.abs(found[:, 0] - 42) <= 1).mean() > 0.6
    assert (np.abs(found[:, 2] - 7) <= 1).mean() > 0.6
    assert {7, 42} <= set(found[:, 1].tolist())
    rows = set(zip(found[:, 0].tolist(), found[:, 2].tolist(), strict=True))
    assert {(a, b) for a in (41, 42, 43) for b in (6, 7, 8)} <= rows
    assert {(7, 7, 7), (42, 42, 42)} <= {tuple(row) for row in found.tolist()}


@pytest.mark.parametrize("injected", [InjectedValues(lost=(0.3,)), InjectedValues(limits=(0.3,))])
def test_floats_next_to_numbers_of_the_code_and_limits_of_the_file(
    injected: InjectedValues,
) -> None:
    given = {"x": np.zeros(1000, np.float32)}
    found = inject([entry()], given, injected, number=0)["x"]
    exact = np.float32(0.3)
    near = {float(np.nextafter(exact, np.float32(end))) for end in (-np.inf, np.inf)}
    assert set(found.tolist()) == {0.0, float(exact), *near}
