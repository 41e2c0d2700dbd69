"""One element changes at a time, to what its input may be, and no array is written to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modelexport_api.spec import Input
from modelexport_exporter.verification.seeking.beside import EVERY, beside


def entry(dtype: str, *limits: float) -> Input:
    declared: dict[str, Any] = {"name": "x", "shape": ["n"], "dtype": dtype}
    if limits:
        declared["range"] = list(limits)
    return Input.model_validate(declared)


def values_of(declared: Input, named: tuple[float, ...] = ()) -> set[float]:
    array = np.zeros(1, declared.dtype.value)
    return {float(found["x"][0]) for found in beside([declared], {"x": array}, named)}


def test_each_integer_of_a_small_range() -> None:
    assert values_of(entry("int64", -12, 40)) == set(range(-12, 41))


def test_numbers_of_the_model_and_steps_of_a_large_range() -> None:
    found = values_of(entry("int64", 0, 10**6), (777, -5, 10**7))
    assert {0, 776, 777, 778, 10**6} <= found
    assert -5 not in found
    assert len(found) < EVERY


@pytest.mark.parametrize("limits", [(), (0.0, 1.0)], ids=["no range", "a range"])
def test_floats_are_within_their_range(limits: tuple[float, ...]) -> None:
    found = values_of(entry("float32", *limits), (0.25, 5.0))
    assert 0.25 in found
    assert (5.0 in found) is not bool(limits)
    assert not limits or (min(found), max(found)) == limits


def test_booleans_take_both_values() -> None:
    assert values_of(entry("bool")) == {0, 1}


def test_one_element_changes_and_others_stay() -> None:
    arrays = {"x": np.array([5, 6, 7]), "y": np.array([1.0])}
    before = {name: array.copy() for name, array in arrays.items()}
    found = list(beside([entry("int64", 5, 7)], arrays, ()))
    for changed in found:
        assert np.count_nonzero(changed["x"] != before["x"]) <= 1
        assert changed["y"] is arrays["y"]
    assert {tuple(changed["x"]) for changed in found} > {(6, 6, 7), (5, 5, 7), (5, 6, 5)}
    assert all((arrays[name] == before[name]).all() for name in arrays)
