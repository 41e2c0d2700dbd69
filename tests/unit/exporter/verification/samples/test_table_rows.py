from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from modelexport_exporter.call.tensors import to_array
from modelexport_exporter.verification.samples import table_rows
from modelexport_exporter.verification.samples.eager_tables import EagerTables
from modelexport_exporter.verification.samples.table_rows import ComparedTable, Distances
from modelexport_exporter.verification.samples.tables import Table

Array = NDArray[Any]
TABLE = np.random.default_rng(0).standard_normal((500, 6)).astype(np.float32)


def compared(array: Array, **more: Any) -> ComparedTable:  # noqa: ANN401
    return ComparedTable(Table("t", array.shape, "i", **more), array)


def changed(row: int, value: float, column: int = 0) -> Array:
    table = TABLE.copy()
    table[row, column] = value
    return table


def rows(table: ComparedTable, tensor: torch.Tensor) -> list[int]:
    assert table.may_be(tensor)
    found = table.distances(tensor)
    assert found is not None
    return [int(row) for row in found.rows_to_look_up()]


@pytest.mark.parametrize("block", [64, 1 << 20])
@pytest.mark.parametrize(
    ("file", "model", "expected"),
    [
        pytest.param(TABLE, TABLE, [], id="equal"),
        pytest.param(changed(7, 3.0), TABLE, [7], id="a row"),
        pytest.param(changed(7, np.nan), changed(7, np.nan), [], id="NaN"),
        pytest.param(changed(7, np.nan), TABLE, [7], id="NaN of the file"),
        pytest.param(changed(7, np.inf), TABLE, [7], id="infinity"),
        pytest.param(changed(7, 0.0), changed(7, -0.0), [7], id="zero of another sign"),
        pytest.param(TABLE[:, 0], changed(499, 9.0)[:, 0], [499], id="numbers"),
        pytest.param(TABLE.astype(int), changed(3, 9.0).astype(int), [3], id="integers"),
        pytest.param(TABLE > 0, changed(3, -TABLE[3, 0]) > 0, [3], id="booleans"),
    ],
)
def test_differing_rows_are_found(
    monkeypatch: pytest.MonkeyPatch, block: int, file: Array, model: Array, expected: list[int]
) -> None:
    monkeypatch.setattr(table_rows, "BLOCK_BYTES", block)
    assert rows(compared(file), torch.from_numpy(np.ascontiguousarray(model))) == expected


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_a_table_of_another_precision_is_compared_in_it(dtype: type) -> None:
    tensor = torch.from_numpy(TABLE)
    assert rows(compared(TABLE.astype(dtype)), tensor) == []
    assert rows(compared(changed(9, 3.0).astype(dtype)), tensor) == [9]


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_are_along_any_axis(axis: int) -> None:
    tensor = torch.from_numpy(TABLE.T.copy()).t()
    assert rows(compared(changed(7, 3.0, column=5), axis=axis), tensor) == [(7, 5)[axis]]


def test_cells_are_rows_of_two_axes() -> None:
    assert rows(compared(changed(7, 3.0, column=5), depth=2), torch.from_numpy(TABLE)) == [47]


def test_the_farthest_rows_come_first_and_few_that_rounding_explains() -> None:
    found = Distances(np.array([0, 0.5, 100, np.inf, *[1] * 1000], np.float32))
    assert found.damaged == 2
    own = found.rows_to_look_up().tolist()
    assert own[:2] == [3, 2]
    assert len(own) == 2 + table_rows.ROUNDED_ROWS
    assert not {0, 1} & set(own)


def test_a_small_number_in_a_column_of_small_ones_is_no_rounding() -> None:
    scaled = TABLE * np.array([1, 1, 1, 1, 1, 1e-9], np.float32)
    damaged = scaled.copy()
    damaged[7, 5] *= 2
    distances = compared(damaged).distances(torch.from_numpy(scaled))
    assert distances is not None
    assert distances.damaged == 1


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(500, 5),
        torch.zeros(500, 6, dtype=torch.int32),
        torch.zeros(500, 6, device="meta"),
        torch.zeros(500, 6).to_sparse(),
    ],
)
def test_other_tensors_are_none_of_a_table(tensor: torch.Tensor) -> None:
    assert not compared(TABLE).may_be(tensor)


def test_a_tensor_of_other_numbers_is_another_one() -> None:
    assert compared(TABLE).distances(torch.from_numpy(TABLE * 2)) is None


def test_tables_that_eager_computes_are_compared() -> None:
    weight = torch.from_numpy(TABLE)
    expected = to_array(torch.nn.functional.normalize(weight))
    damaged = expected.copy()
    damaged[123] *= 1.01
    tables = {"a": compared(expected), "b": compared(damaged), "c": compared(TABLE * 7)}
    with EagerTables(tables) as eager:
        torch.nn.functional.normalize(weight)[torch.tensor([3])]
    assert set(eager.nearest) == {"a", "b"}
    assert not eager.nearest["a"].rows.any()
    assert eager.nearest["b"].rows_to_look_up().tolist() == [123]


def test_comparisons_with_eager_end() -> None:
    clock = iter(range(100))
    tables = {"a": compared(TABLE + 1)}
    with EagerTables(tables, lambda: next(clock)) as eager:
        weight = torch.from_numpy(TABLE) * 1.0
        weight = weight * 1.0
        weight = weight + 1
    assert eager.nearest == {}
