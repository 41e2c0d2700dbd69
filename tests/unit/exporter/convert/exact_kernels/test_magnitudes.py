"""Small integers keep their operators: sizes, masks, constants and declared ranges."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import graph_of, operators

X = np.array([[1, 2], [3, 4]], np.int64)
AXIS = {1: np.array([1])}


def chain(*nodes: onnx.NodeProto, kind: int = onnx.TensorProto.FLOAT) -> ir.Model:
    """Return the nodes as a model of the input x; dtypes in between are not noted."""
    graph = helper.make_graph(
        list(nodes),
        "chain",
        [helper.make_tensor_value_info("x", kind, [None, None])],
        [helper.make_empty_tensor_value_info("y")],
        [onnx.numpy_helper.from_array(np.array([1]), "axis")],
    )
    return ir.serde.deserialize_model(helper.make_model(graph))


def rewrites(model: ir.Model, declared: Declared | None = None) -> bool:
    """Return whether the graph changes."""
    before = operators(model)
    avoid_inexact_kernels(model, declared or Declared({}, ()))
    return operators(model) != before


@pytest.mark.parametrize(("limit", "changes"), [(1, False), (2**30, False), (2**40, True)])
def test_declared_ranges(limit: int, changes: bool) -> None:
    model = graph_of("ReduceSum", [X], AXIS, keepdims=0)
    assert rewrites(model, Declared({"x0": float(limit)}, ())) is changes


def test_inputs_without_a_range() -> None:
    assert rewrites(graph_of("Max", [X, X]))


def test_sums_of_masks_stay() -> None:
    cast = helper.make_node("Cast", ["x"], ["m"], to=onnx.TensorProto.BOOL)
    count = helper.make_node("Cast", ["m"], ["c"], to=onnx.TensorProto.INT64)
    total = helper.make_node("ReduceSum", ["c", "axis"], ["y"], keepdims=0)
    assert not rewrites(chain(cast, count, total))


def test_arithmetic_of_sizes_stays() -> None:
    shape = helper.make_node("Shape", ["x"], ["s"])
    product = helper.make_node("ReduceProd", ["s"], ["p"], keepdims=0)
    larger = helper.make_node("Max", ["p", "p"], ["y"])
    model = chain(shape, product, larger)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert "ReduceProd" in operators(model)


def test_integers_made_of_floats_are_of_any_size() -> None:
    cast = helper.make_node("Cast", ["x"], ["c"], to=onnx.TensorProto.INT64)
    total = helper.make_node("ReduceSum", ["c", "axis"], ["y"], keepdims=0)
    assert rewrites(chain(cast, total))


def test_dtypes_are_found_where_none_is_noted() -> None:
    twice = helper.make_node("Mul", ["x", "x"], ["m"])
    gathered = helper.make_node("Squeeze", ["m"], ["g"])
    larger = helper.make_node("Min", ["g", "x"], ["y"])
    assert rewrites(chain(twice, gathered, larger, kind=onnx.TensorProto.INT64))
    assert not rewrites(chain(twice, gathered, larger, kind=onnx.TensorProto.FLOAT))


def test_what_follows_a_rewritten_node_is_rewritten() -> None:
    first = helper.make_node("Max", ["x", "x"], ["m"])
    second = helper.make_node("Min", ["m", "x"], ["y"])
    model = chain(first, second, kind=onnx.TensorProto.INT64)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Less", "Where", "Less", "Where"]
