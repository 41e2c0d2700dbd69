"""Sides of If nodes: which depend on values, and which ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser

from modelexport_exporter.onnx_file.modules import CLASSES
from modelexport_exporter.verification.seeking.file_sides import FileSides
from modelexport_exporter.verification.seeking.side_probe import COUNTS, probe_of
from modelexport_exporter.verification.seeking.value_conditions import (
    in_translations,
    value_conditions,
)

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
BY_VALUE = """agraph (float[n] x) => (float[n] y) {
    zero = Constant<value = float {0}>()
    sum = ReduceSum<keepdims = 0>(x)
    large = Greater(sum, zero)
    y = If(large) <
        then_branch = a () => (float[n] p) { p = Neg(x) },
        else_branch = b () => (float[n] q) { q = Identity(x) }
    >
}"""
BY_SIZE = BY_VALUE.replace("sum = ReduceSum<keepdims = 0>(x)", "s = Size(x)  sum = Cast<to = 1>(s)")
NESTED = """agraph (float[n] x) => (float[n] y) {
    zero = Constant<value = float {0}>()
    ten = Constant<value = float {10}>()
    sum = ReduceSum<keepdims = 0>(x)
    large = Greater(sum, zero)
    y = If(large) <
        then_branch = a () => (float[n] p) {
            larger = Greater(sum, ten)
            p = If(larger) <
                then_branch = c () => (float[n] r) { r = Neg(x) },
                else_branch = d () => (float[n] s) { s = Abs(x) }
            >
        },
        else_branch = b () => (float[n] q) { q = Exp(x) }
    >
}"""
LOOP = """agraph (float[n] x) => (float[n] y) {
    trips = Constant<value = int64 {4}>()
    goes = Constant<value = bool {1}>()
    limit = Constant<value = float {8}>()
    y = Loop(trips, goes, x) <
        body = round (int64 i, bool c, float[n] v) => (bool c_out, float[n] w) {
            c_out = Identity(c)
            sum = ReduceSum<keepdims = 0>(v)
            small = Less(sum, limit)
            w = If(small) <
                then_branch = a () => (float[n] p) { p = Add(v, v) },
                else_branch = b () => (float[n] q) { q = Neg(v) }
            >
        }
    >
}"""
OF_COUNT = """agraph (float[n] x) => (float[n] y) {
    zero = Constant<value = int64 {2}>()
    found = NonZero(x)
    count = Size(found)
    several = Greater(count, zero)
    y = If(several) <
        then_branch = a () => (float[n] p) { p = Neg(x) },
        else_branch = b () => (float[n] q) { q = Abs(x) }
    >
}"""


def model(text: str) -> onnx.ModelProto:
    found = parser.parse_model(HEAD + text)
    onnx.checker.check_model(found)
    return found


def sides_of(text: str) -> FileSides:
    whole = model(text)
    probe = probe_of(whole)
    assert probe is not None
    session = onnxruntime.InferenceSession(
        probe.SerializeToString(), providers=["CPUExecutionProvider"]
    )

    def run(arrays: Mapping[str, Any], _where: str) -> list[tuple[str, Any]]:
        return [(COUNTS, session.run([COUNTS], dict(arrays))[0])]

    return FileSides(whole.graph, run)


def x(*values: float) -> dict[str, Any]:
    return {"x": np.array(values, "f4")}


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        (BY_VALUE, [True]),
        (BY_SIZE, [False]),
        (NESTED, [True, True]),
        (LOOP, [True]),
        (OF_COUNT, [True]),
    ],
)
def test_values_decide(text: str, decided: list[bool]) -> None:
    assert value_conditions(model(text).graph) == decided


def test_a_side_that_ran_is_not_missing() -> None:
    sides = sides_of(BY_VALUE)
    assert sides.missing == [(0, 0)]  # the other side passes its input on
    watched = sides.watching(lambda _arrays, _where: [])
    watched(x(-1, -2), "")
    assert sides.missing == [(0, 0)]
    assert sides.reaches(x(1, 2))
    watched(x(1, 2), "")
    assert not sides.missing
    assert not sides.is_open


def test_sizes_decide_on_no_missing_side() -> None:
    sides = sides_of(BY_SIZE)
    assert not sides.missing
    assert sides.is_open


def test_a_side_inside_of_a_side() -> None:
    sides = sides_of(NESTED)
    watched = sides.watching(lambda _arrays, _where: [])
    watched(x(-1), "")
    watched(x(1), "")
    assert sides.missing == [(1, 0)]
    assert sides.describe((1, 0)).startswith("the then side")
    assert sides.reaches(x(11))


def test_sides_in_all_rounds_of_a_loop() -> None:
    sides = sides_of(LOOP)
    sides.watching(lambda _arrays, _where: [])(x(0.1), "")
    assert sides.missing == [(0, 1)]
    assert sides.reaches(x(3))  # 3, 6, 12, -12


def test_a_probe_leaves_out_what_conditions_do_not_need() -> None:
    probe = probe_of(model(BY_VALUE))
    assert probe is not None
    branch = next(node for node in probe.graph.node if node.op_type == "If")
    assert [node.op_type for node in branch.attribute[0].g.node] == ["Constant"]
    assert probe_of(model("agraph (float[n] x) => (float[n] y) { y = Neg(x) }")) is None


@pytest.mark.parametrize(
    ("classes", "own"),
    [
        ("['Net', 'torch.nn.modules.sparse.EmbeddingBag', 'aten.embedding_bag.padding_idx']", True),
        ("['Net', 'cond']", False),
        ("", False),
    ],
)
def test_branches_of_translations_are_none_of_the_model(classes: str, own: bool) -> None:
    graph = parser.parse_model(HEAD + LOOP).graph
    loop = next(node for node in graph.node if node.op_type == "Loop")
    if classes:
        loop.metadata_props.add(key=CLASSES, value=classes)
    assert list(in_translations(graph)) == [own]
