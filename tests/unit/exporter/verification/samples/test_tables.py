from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from modelexport_exporter.sampling.lookups import NOWHERE, Numbers
from modelexport_exporter.verification.samples.index_paths import numbers_of
from modelexport_exporter.verification.samples.tables import FileValues, Table, tables_of

CONSTANTS = {
    "t": np.arange(12, dtype=np.float32).reshape(6, 2),
    "u": np.arange(8, dtype=np.float32).reshape(4, 2),
    "v": np.ones(2, np.float32),
    "whole": np.array([3, 5, 4, 0]),
    "one": np.array(1),
    "two": np.array(2),
    "last": np.array([-1]),
    "count": np.arange(6),
    "starts": np.array([0, 2]),
    "shape": np.array([6, 2]),
    "parts": np.array([0.0, 1.0], np.float32),
}


def values_of(*nodes: str) -> FileValues:
    text = "agraph (int64[n] i, int64[n, 2] x, float[n, 6] f) => (float y) {" + "".join(nodes) + "}"
    graph = parser.parse_graph(text)
    graph.initializer.extend(numpy_helper.from_array(own, key) for key, own in CONSTANTS.items())
    return FileValues.of(graph, Path())


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("y = Gather(t, i)", [Table("t", (6, 2), "i")]),
        ("y = Gather<axis=1>(t, i)", [Table("t", (6, 2), "i", axis=1)]),
        ("y = Gather<axis=-1>(t, i)", [Table("t", (6, 2), "i", axis=1)]),
        ("y = GatherND(t, i)", [Table("t", (6, 2), "i")]),
        ("y = GatherElements(t, x)", [Table("t", (6, 2), "x")]),
        ("y = Gather(whole, i)", [Table("whole", (4,), "i")]),
        (
            "y = Gather(t, i) z = Gather(t, one)",
            [Table("t", (6, 2), "i"), Table("t", (6, 2), "one")],
        ),
        ("a = Mul(t, v) b = Cast<to=10>(a) y = Gather(b, i)", [Table("t", (6, 2), "i")]),
        ("a = ReduceL2(t, last) b = Div(t, a) y = Gather(b, i)", [Table("t", (6, 2), "i")]),
        ("a = Transpose<perm=[1, 0]>(t) y = Gather(a, i)", [Table("t", (6, 2), "i", axis=1)]),
        (
            "a = Concat<axis=0>(t, u) y = Gather(a, i)",
            [Table("t", (6, 2), "i"), Table("u", (4, 2), "i", first=6)],
        ),
        ("a = Concat<axis=-1>(i, i) y = GatherND(t, a)", [Table("t", (6, 2), "a", depth=2)]),
        ("a = OneHot(i, two, parts) y = MatMul(a, t)", [Table("t", (6, 2), "i")]),
        (
            "a = Unsqueeze(i, last) b = Equal(a, count) c = Cast<to=1>(b) y = MatMul(c, t)",
            [Table("t", (6, 2), "a")],
        ),
        ("a = Equal(i, starts) y = MatMul(a, t)", []),
        ("y = MatMul(f, t)", []),
        ("y = Gather(f, i)", []),
        ("a = Slice(t, one, two) y = Gather(a, i)", []),
    ],
)
def test_constants_of_which_rows_are_read_are_tables(nodes: str, expected: list[Table]) -> None:
    assert tables_of(values_of(nodes)) == expected


def test_tables_inside_of_branches_and_constant_nodes_are_found() -> None:
    table = onnx.helper.make_node(
        "Constant", [], ["w"], value=numpy_helper.from_array(CONSTANTS["t"])
    )
    inner = parser.parse_graph("inner () => (float z) { z = Gather(w, i) }")
    graph = parser.parse_graph("outer (int64[n] i, bool c) => (float y) { y = Identity(i) }")
    branch = onnx.helper.make_node("If", ["c"], ["o"], then_branch=inner, else_branch=inner)
    graph.node.extend([table, branch])
    assert tables_of(FileValues.of(graph, Path())) == [Table("w", (6, 2), "i")]


ROWS = np.array([0, 3, 5])


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("j = Cast<to=7>(i)", ("i", [0, 3, 5])),
        ("j = Add(i, one)", ("i", [-1, 2, 4])),
        ("j = Sub(i, one)", ("i", [1, 4, 6])),
        ("j = Sub(one, i)", ("i", [1, -2, -4])),
        ("j = Mul(two, i)", ("i", [0, NOWHERE, NOWHERE])),
        ("j = Div(i, two)", ("i", [0, 6, 10])),
        ("j = Mod(i, two)", ("i", [0, NOWHERE, NOWHERE])),
        ("j = Max(i, one)", ("i", [0, 3, 5])),
        ("a = Less(i, one) b = Add(i, two) j = Where(a, b, i)", ("i", [0, 3, 5])),
        ("j = Gather(whole, i)", ("i", [3, 0, 1])),
        ("a = Unsqueeze(i, last) j = GatherND(whole, a)", ("i", [3, 0, 1])),
        ("j = Concat<axis=0>(whole, i)", ("i", [0, 3, 5])),
        ("j = Add(x, starts)", ("x", [[0, -2], [3, 1], [5, 3]])),
    ],
)
def test_indices_are_followed_to_an_input(
    nodes: str, expected: tuple[str, list[int] | list[list[int]]]
) -> None:
    found = numbers_of(Table("t", (6, 2), "j"), ROWS, values_of(nodes))
    assert found is not None
    [(name, own)] = found.items()
    assert (name, own.numbers.tolist()) == expected
    assert own.by_row is (own.numbers.ndim > 1)


@pytest.mark.parametrize(
    ("nodes", "column"),
    [
        ("j = Gather<axis=1>(x, one)", 1),
        ("j = Gather<axis=0>(x, one)", None),
        ("j = Slice(x, one, two)", None),
    ],
)
def test_columns_of_inputs_are_known(nodes: str, column: int | None) -> None:
    found = numbers_of(Table("t", (6, 2), "j"), ROWS, values_of(nodes))
    assert found is not None
    assert (found["x"].by_row, found["x"].column) == (True, column)


@pytest.mark.parametrize("nodes", ["j = ArgMax(f)", "j = Range(one, two, one)", "j = Mul(i, i)"])
def test_other_indices_are_unknown(nodes: str) -> None:
    assert numbers_of(Table("t", (6, 2), "j"), ROWS, values_of(nodes)) is None


def test_cells_are_picked_by_two_inputs() -> None:
    values = values_of("a = Gather<axis=1>(x, one) j = Concat<axis=-1>(i, a)")
    found = numbers_of(Table("t", (6, 2), "j", depth=2), np.array([0, 7]), values)
    assert found is not None
    assert {name: own.numbers.tolist() for name, own in found.items()} == {"i": [0, 3], "x": [0, 1]}


def test_rows_of_a_later_part_are_behind_the_others() -> None:
    found = numbers_of(Table("u", (4, 2), "i", first=6), np.array([1]), values_of("y = Abs(f)"))
    assert found is not None
    assert isinstance(found["i"], Numbers)
    assert found["i"].numbers.tolist() == [7]
