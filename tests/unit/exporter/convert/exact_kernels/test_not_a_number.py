"""Extremes among which there is NaN are NaN, and at the place of the first one."""

from __future__ import annotations

import math

import numpy as np
import onnx
import onnx_ir as ir
import pytest
import torch
from onnx import TensorProto, helper

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, operators, rewritten, run

NAN, INF = math.nan, math.inf
ROWS = np.array(
    [[1, NAN, 3, 2], [NAN, NAN, INF, 0], [1, 2, 3, NAN], [1, 3, 3, 2], [-INF, -INF, -INF, -INF]]
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("operator", ["ReduceMax", "ReduceMin"])
def test_extremes(operator: str, kept: int, opset: int, dtype: type) -> None:
    x: Array = ROWS.astype(dtype)
    axes = {} if opset >= 18 else {"axes": [1]}
    constants = {1: np.array([1])} if opset >= 18 else {}
    model = graph_of(operator, [x], constants, opset, keepdims=kept, **axes)
    function = torch.amax if operator == "ReduceMax" else torch.amin
    want = function(torch.from_numpy(x), 1, bool(kept))
    np.testing.assert_array_equal(rewritten(model, [x]), want.numpy(), strict=True)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_places(operator: str, kept: int, opset: int) -> None:
    x: Array = ROWS.astype(np.float32)
    model = graph_of(operator, [x], {}, opset, keepdims=kept, axis=1)
    function = torch.argmax if operator == "ArgMax" else torch.argmin
    want = function(torch.from_numpy(x), 1, bool(kept))
    np.testing.assert_array_equal(rewritten(model, [x]), want.numpy(), strict=True)


def test_extremes_of_numbers_that_were_integers_stay() -> None:
    x: Array = np.array([[1, 2]], np.int64)
    cast = helper.make_node("Cast", ["x0"], ["c"], to=TensorProto.FLOAT)
    model = _of_nodes([cast, helper.make_node("ArgMax", ["c"], ["y"], axis=1)], x)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Cast", "ArgMax"]
    np.testing.assert_array_equal(run(model, [x]), [[1]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("largest", [0, 1])
def test_ranks(largest: int, dtype: type) -> None:
    x: Array = ROWS[:3].astype(dtype)
    node = helper.make_node("TopK", ["x0", "k"], ["y", "places"], axis=1, largest=largest)
    model = _of_nodes([node], x)
    want = torch.topk(torch.from_numpy(x), 3, 1, bool(largest)).values.numpy()
    np.testing.assert_array_equal(rewritten(model, [x]), want, strict=True)


def _of_nodes(nodes: list[onnx.NodeProto], x: Array) -> ir.Model:
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    given = helper.make_tensor_value_info("x0", kind, [None, *x.shape[1:]])
    result = helper.make_empty_tensor_value_info("y")
    k = onnx.numpy_helper.from_array(np.array([3]), "k")
    graph = helper.make_graph(nodes, "one", [given], [result], [k])
    opsets = [helper.make_opsetid("", 20)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return ir.serde.deserialize_model(onnx.shape_inference.infer_shapes(model))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("how", ["max", "min"])
def test_extremes_that_meet_at_a_place(how: str, dtype: type) -> None:
    data: Array = np.array([0, 1, np.nan, 3, np.inf], dtype)
    places = np.array([0, 0, 1, 1, 2, 3, 3, 4])
    updates: Array = np.array([np.nan, 5, 7, np.nan, 1, -1, 9, -np.inf], dtype)
    model = graph_of("ScatterElements", [data, updates], {1: places}, 18, reduction=how)
    want = torch.from_numpy(data).scatter_reduce(
        0, torch.from_numpy(places), torch.from_numpy(updates), f"a{how}"
    )
    np.testing.assert_array_equal(rewritten(model, [data, updates]), want.numpy())


def test_what_is_not_reduced_by_extremes_stays() -> None:
    data = np.zeros(3, np.float32)
    model = graph_of("ScatterElements", [data, data], {1: np.arange(3)}, 18, reduction="add")
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["ScatterElements"]
