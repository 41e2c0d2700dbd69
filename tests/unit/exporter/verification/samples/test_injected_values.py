from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from modelexport_api.spec import Input
from modelexport_exporter.verification.samples.injected_values import (
    InjectedValues,
    find_injected_values,
    inject,
    inject_nan,
    turns,
)

Array = NDArray[Any]
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def scalar(value: float, name: str = "") -> TensorProto:
    return numpy_helper.from_array(np.asarray(value, dtype=np.float32), name)


def file_with(
    tmp_path: Path, table: Array, *scalars: float, more: Sequence[onnx.NodeProto] = ()
) -> Path:
    constants = [
        helper.make_node("Constant", [], [f"c{place}"], value=scalar(value))
        for place, value in enumerate(scalars)
    ]
    graph = helper.make_graph(
        [*constants, *more, helper.make_node("Gather", ["embed.weight", "ids"], ["y"])],
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [
            numpy_helper.from_array(table, "embed.weight"),
            scalar(7.0, "s"),
        ],
    )
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph), path)
    return path


def test_constants_and_changed_rows_are_read_from_the_file(tmp_path: Path) -> None:
    changed = TABLE.copy()
    changed[2, 1] = -1
    path = file_with(tmp_path, changed, 0.5, 6.0, np.inf, np.nan, 0.0, -3e38)
    injected_values = find_injected_values(path, {"embed.weight": torch.from_numpy(TABLE)})
    assert injected_values == InjectedValues(constants=(0.5, 6.0, 7.0), rows=(2,))


@pytest.mark.parametrize(
    "state",
    [
        pytest.param({"embed.weight": torch.from_numpy(TABLE)}, id="equal"),
        pytest.param({}, id="unknown"),
        pytest.param({"embed.weight": torch.zeros(5, 3)}, id="another shape"),
        pytest.param(
            {"other": torch.zeros(4, 3), "same": torch.from_numpy(TABLE)},
            id="equal by another name",
        ),
        pytest.param({"embed.weight": torch.zeros(4, 3, dtype=torch.float64)}, id="another dtype"),
    ],
)
def test_what_cannot_be_held_against_the_checkpoint_is_no_aim(
    tmp_path: Path, state: dict[str, torch.Tensor]
) -> None:
    assert find_injected_values(file_with(tmp_path, TABLE), state).rows == ()


def test_nan_in_a_table_is_equal_to_itself(tmp_path: Path) -> None:
    table = TABLE.copy()
    table[1, 1] = np.nan
    state = {"embed.weight": torch.from_numpy(table.copy())}
    assert find_injected_values(file_with(tmp_path, table), state).rows == ()


def entry(**fields: Any) -> Input:  # noqa: ANN401
    return Input.model_validate({"name": "x", "shape": [1000], **fields})


@pytest.mark.parametrize(
    ("declared", "array", "found"),
    [
        pytest.param({}, np.zeros(1000, np.float32), {0.0, 0.5, 6.0}, id="floats"),
        pytest.param({"range": [0, 1]}, np.zeros(1000, np.float32), {0.0, 0.5}, id="within range"),
        pytest.param(
            {"dtype": "int64", "range": [0, 9]}, np.zeros(1000, np.int64), {0, 3}, id="rows"
        ),
        pytest.param({"dtype": "bool"}, np.zeros(1000, np.bool_), {False}, id="booleans stay"),
        pytest.param({}, np.zeros(0, np.float32), set(), id="empty"),
    ],
)
def test_strewing_keeps_dtype_range_and_half_of_the_elements(
    declared: dict[str, Any], array: Array, found: set[float]
) -> None:
    injected_values = InjectedValues(constants=(0.5, 6.0), rows=(3, 40))
    injected = inject([entry(**declared)], {"x": array}, injected_values, turn=1)["x"]
    assert injected.dtype == array.dtype
    assert set(injected.tolist()) == found
    assert np.array_equal(
        injected, inject([entry(**declared)], {"x": array}, injected_values, turn=1)["x"]
    )


@pytest.mark.parametrize(
    ("declared", "dtype", "expected"),
    [
        ({}, np.float32, True),
        ({"range": [0, 1]}, np.float32, False),
        ({"dtype": "int64"}, np.int64, False),
    ],
)
def test_nan_goes_only_where_nothing_excludes_it(
    declared: dict[str, Any], dtype: str, expected: bool
) -> None:
    injected = inject_nan([entry(**declared)], {"x": np.ones(1000, dtype)}, seed=1)["x"]
    assert bool(np.isnan(injected.astype(np.float64)).any()) is expected
    assert injected.dtype == dtype


def test_a_table_without_a_namesake_is_held_against_the_one_it_resembles(tmp_path: Path) -> None:
    changed = TABLE.copy()
    changed[3] = 0
    state = {"other": torch.zeros(4, 3), "table": torch.from_numpy(TABLE)}
    assert find_injected_values(file_with(tmp_path, changed), state).rows == (3,)


def test_each_aim_occurs_before_one_recurs() -> None:
    injected_values = InjectedValues(constants=tuple(float(value) for value in range(1, 41)))
    injected = inject([entry()], {"x": np.zeros(100, np.float32)}, injected_values, turn=1)["x"]
    assert set(injected.tolist()) == {0.0, *injected_values.constants}


@pytest.mark.parametrize(
    ("nodes", "scale"),
    [
        ([("Round", "x")], 1.0),
        ([("Mul", "x", "c0"), ("Round", "m0")], 4.0),
        ([("Mul", "c0", "x"), ("Floor", "m0")], 4.0),
        ([("Div", "x", "c0"), ("Ceil", "m0")], 0.25),
        ([("Div", "x", "c0"), ("Clip", "m0"), ("Round", "m1")], 0.25),
    ],
)
def test_what_becomes_a_half_where_the_file_rounds_is_an_aim(
    tmp_path: Path, nodes: list[tuple[str, ...]], scale: float
) -> None:
    made = [helper.make_node(op, names, [f"m{at}"]) for at, (op, *names) in enumerate(nodes)]
    injected_values = find_injected_values(file_with(tmp_path, TABLE, 4.0, more=made), {})
    assert injected_values.constants == (4.0, 7.0)
    assert {half / scale for half in (-1.5, -0.5, 0.5, 2.5)} <= set(injected_values.halves)


def test_a_file_that_never_rounds_has_no_halves(tmp_path: Path) -> None:
    assert find_injected_values(file_with(tmp_path, TABLE, 4.0), {}).halves == ()


@pytest.mark.parametrize(("size", "expected"), [(1000, 2), (20, 2), (10, 4), (4, 8), (1, 8)])
def test_the_aims_are_dealt_over_as_many_samples_as_it_takes(size: int, expected: int) -> None:
    injected_values = InjectedValues(
        constants=(3.0, 5.0), halves=tuple(value / 64 for value in range(1, 17))
    )
    declared = [entry(shape=["batch"])]
    count = turns(declared, {"batch": size}, injected_values)
    assert count == expected
    dealt = [
        inject(declared, {"x": np.zeros(size, np.float32)}, injected_values, turn)["x"]
        for turn in range(count)
    ]
    if count < 8:
        assert {*injected_values.constants, *injected_values.halves} <= set(
            np.concatenate(dealt).tolist()
        )


def test_constants_are_dealt_before_halves() -> None:
    injected_values = InjectedValues(
        constants=(3.0, 5.0), halves=tuple(value / 64 for value in range(1, 60))
    )
    injected = inject(
        [entry(shape=[10])], {"x": np.zeros(10, np.float32)}, injected_values, turn=0
    )["x"]
    assert {3.0, 5.0} <= set(injected.tolist())
