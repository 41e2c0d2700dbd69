from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modelexport_api.spec import Input
from modelexport_exporter.sampling.lookups import (
    NOWHERE,
    Lookups,
    Numbers,
    look_up,
    lookups_at_once,
    within_range,
)


def entry(name: str, *shape: int | str, **more: Any) -> Input:  # noqa: ANN401
    fields = {"dtype": "int64", "range": [0, 99], **more}
    return Input.model_validate({"name": name, "shape": list(shape), **fields})


def lookups(**inputs: Numbers) -> Lookups:
    count = len(next(iter(inputs.values())).numbers)
    return Lookups("t", count, inputs)


def numbers(*own: int, **more: Any) -> Numbers:  # noqa: ANN401
    return Numbers(np.array(own), **more)


@pytest.mark.parametrize(
    ("own", "shape", "part", "expected"),
    [
        (numbers(5, 6, 7), (2,), 0, [5, 6]),
        (numbers(5, 6, 7), (2,), 1, [7, 1]),
        (numbers(5, 6, 7), (2, 2), 0, [[5, 6], [7, 1]]),
        (numbers(5, 6, 7, by_row=True), (2, 2), 0, [[5, 5], [6, 6]]),
        (numbers(5, 6, 7, by_row=True), (2, 2), 1, [[7, 7], [1, 1]]),
        (numbers(5, 6, by_row=True, column=1), (2, 2), 0, [[1, 5], [1, 6]]),
        (numbers(5, 6, by_row=True, column=-1), (2, 2), 0, [[1, 5], [1, 6]]),
        (Numbers(np.array([[5, NOWHERE], [400, 6]]), by_row=True), (2, 2), 0, [[5, 1], [1, 6]]),
        (numbers(5), (), 0, 5),
        (numbers(5), (0,), 0, []),
    ],
)
def test_rows_are_packed(
    own: Numbers, shape: tuple[int, ...], part: int, expected: list[Any] | int
) -> None:
    array = np.ones(shape, np.int64)
    found = look_up([entry("x", *shape)], {"x": array}, lookups(x=own), part)["x"]
    assert found.tolist() == expected
    assert found.dtype == array.dtype
    assert np.all(array == 1)


def test_parts_of_two_inputs_go_together() -> None:
    inputs = [entry("a", "n"), entry("b", "n", 2), entry("c", "n")]
    own = lookups(a=numbers(1, 2, 3), b=numbers(4, 5, 6))
    assert lookups_at_once(own, inputs, {"n": 2}) == 2
    drawn = {"a": np.zeros(2, int), "b": np.zeros((2, 2), int), "c": np.zeros(2, int)}
    found = look_up(inputs, drawn, own, 1)
    assert found["a"].tolist() == [3, 0]
    assert found["b"].tolist() == [[6, 0], [0, 0]]
    assert found["c"].tolist() == [0, 0]


def test_rows_out_of_range_are_known() -> None:
    inputs = [entry("a", "n"), entry("b", "n", 2, range=[0, 9])]
    columns = Numbers(np.array([[50, 60], [50, 5], [5, 5], [5, 5]]), by_row=True)
    own = lookups(a=numbers(1, 2, 100, NOWHERE), b=columns)
    assert within_range(own, inputs).tolist() == [False, True, False, False]
