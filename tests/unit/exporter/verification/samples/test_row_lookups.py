from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray
from onnx import numpy_helper, parser

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.sample import Values
from modelexport_exporter.sampling.lookups import Lookups, Numbers
from modelexport_exporter.verification.samples.find_lookups import find_lookups
from modelexport_exporter.verification.samples.row_lookups import RowLookups

Array = NDArray[Any]
TABLE = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)


def spec(**verification: Any) -> ModelExportSpec:  # noqa: ANN401
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///c.pt"},
            "inputs": [{"name": "ids", "shape": ["n"], "dtype": "int64", "range": [0, 29]}],
            "dims": {"n": {"min": 1, "max": 10}},
            "destination": {"uri": "file:///o/"},
            "verification": verification,
        }
    )


def lookups(count: int, **more: Any) -> Lookups:  # noqa: ANN401
    return Lookups("t", count, {"ids": Numbers(np.arange(count))}, **more)


def file_with(tmp_path: Path, nodes: str, **tensors: Array) -> Path:
    graph = parser.parse_graph(f"g (int64[n] ids, float[n] x) => (float y) {{ {nodes} }}")
    graph.initializer.extend(numpy_helper.from_array(own, key) for key, own in tensors.items())
    path = tmp_path / "model.onnx"
    onnx.save(onnx.helper.make_model(graph), path)
    return path


def found_in(
    path: Path, state: dict[str, Array], *, eager: Array | None = None
) -> dict[str, tuple[list[int], bool, bool]]:
    """Return the numbers of ids by table, whether it is known, and what looks it up."""

    def run(context: Any) -> None:  # noqa: ANN401
        with context:
            torch.from_numpy(np.zeros(1) if eager is None else eager) * 1

    tensors = {name: torch.from_numpy(own) for name, own in state.items()}
    found = find_lookups(path, tensors, spec().inputs, run)
    return {
        own.table: (own.inputs["ids"].numbers.tolist(), own.compared, own.known) for own in found
    }


DAMAGED = TABLE.copy()
DAMAGED[[5, 7, 35]] *= np.array([[1.5], [3], [9]], np.float32)
GATHER = "y = Gather(t, ids)"


def test_a_table_of_the_state_needs_no_lookup(tmp_path: Path) -> None:
    path = file_with(tmp_path, GATHER, t=TABLE)
    assert found_in(path, {"other": TABLE * 2, "same": TABLE}) == {}


def test_rows_that_differ_are_looked_up_within_the_range(tmp_path: Path) -> None:
    path = file_with(tmp_path, GATHER, t=DAMAGED)
    assert found_in(path, {"t": TABLE}) == {"t": ([7, 5], True, True)}


def test_rows_that_differ_between_similar_tensors_are_looked_up(tmp_path: Path) -> None:
    path = file_with(tmp_path, GATHER, t=TABLE)
    assert found_in(path, {"t": TABLE, "copy": DAMAGED})["t"][0] == [7, 5]


def test_a_table_that_eager_computes_needs_no_lookup(tmp_path: Path) -> None:
    path = file_with(tmp_path, GATHER, t=TABLE)
    assert found_in(path, {}, eager=TABLE) == {}
    assert found_in(path, {}, eager=DAMAGED) == {"t": ([7, 5], True, True)}


def test_all_rows_of_the_files_own_table_are_looked_up(tmp_path: Path) -> None:
    path = file_with(tmp_path, GATHER, t=TABLE)
    assert found_in(path, {"t": TABLE[:5]}) == {"t": ([*range(30)], False, True)}


def test_rows_by_unknown_indices_are_tried(tmp_path: Path) -> None:
    path = file_with(tmp_path, "i = ArgMax(x) y = Gather(t, i)", t=DAMAGED)
    assert found_in(path, {"t": TABLE}) == {"t": ([35, 7, 5], True, False)}


def test_what_is_no_onnx_file_has_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a file of ONNX")
    assert find_lookups(path, {}, spec().inputs, lambda _: None) == ()


@pytest.mark.parametrize(
    ("count", "largest", "sizes"),
    [(1, 99, [1]), (3, 99, [10]), (25, 99, [10] * 3), (25, 5, [2] * 13), (2, 2, [2])],
)
def test_rows_are_packed_into_samples_that_fit(count: int, largest: int, sizes: list[int]) -> None:
    rows = RowLookups(spec(), (lookups(count),))
    samples = list(rows.samples(lambda sample: sample.dims["n"] <= largest))
    assert [sample.dims["n"] for sample in samples] == sizes
    assert [sample.seed for sample in samples] == list(range(len(sizes)))
    assert {sample.values for sample in samples} == {Values.LOOKUPS}
    assert rows.coverage() == []


def test_tables_take_turns_and_what_the_budget_left_out_is_said() -> None:
    rows = RowLookups(spec(), (lookups(20), lookups(25, compared=False)))
    samples = rows.samples(lambda _: True)
    assert [next(samples).seed for _ in range(5)] == [0, 1, 2, 3, 5]
    assert rows.coverage() == [
        "looked up 20 of the 25 rows of table t that only the file has",
    ]


def test_a_sampler_is_not_replaced() -> None:
    rows = RowLookups(spec(sampler="module:draw"), (lookups(2),))
    assert list(rows.samples(lambda _: True)) == []
    assert rows.coverage() == ["looked up 0 of the 2 rows of table t that differ from eager's"]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (lookups(2, known=False), True),
        (lookups(2, known=False, compared=False), False),
        (lookups(70, known=False, compared=False), True),
    ],
)
def test_unknown_indices_are_said(own: Lookups, said: bool) -> None:
    rows = RowLookups(spec(), (own,))
    list(rows.samples(lambda _: True))
    which = "differ from eager's" if own.compared else "only the file has"
    sentence = f"{own.count} rows of table t that {which}: unknown what looks them up"
    assert rows.coverage() == ([sentence] if said else [])
