"""Graphs in, graphs out: what computes in the smaller type, and what stays in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from modelexport_exporter.precision.reduced_floats import convert, reduce_floats

F16, BF16 = ir.DataType.FLOAT16, ir.DataType.BFLOAT16
FLOAT = TensorProto.FLOAT
X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def model(
    *nodes: Any,  # noqa: ANN401
    weights: dict[str, np.ndarray[Any, Any]] | None = None,
    opset: int = 20,
    x: int = FLOAT,
    shape: tuple[str | int, ...] = ("n", 4),
) -> ir.Model:
    """Return the model of x and y with these nodes."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", x, shape)],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return ir.from_proto(onnx.shape_inference.infer_shapes(made))


def run(made: ir.Model, x: np.ndarray[Any, Any] = X) -> np.ndarray[Any, Any]:
    """Check the model, and return what onnxruntime computes."""
    proto = ir.to_proto(made)
    onnx.checker.check_model(proto, full_check=True)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    answer: np.ndarray[Any, Any] = session.run(["y"], {"x": x})[0]
    return answer


def types(made: ir.Model) -> dict[str, str]:
    """Return the type of each node's first output, by operator."""
    return {
        node.op_type: node.outputs[0].dtype.name
        for node in made.graph
        if node.op_type != "Cast" and node.outputs[0].dtype is not None
    }


W = np.arange(8, dtype=np.float32).reshape(4, 2) / 7


def test_products_compute_in_float16_between_float32_inputs_and_outputs() -> None:
    made = model(
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Relu", ["h"], ["y"]),
        weights={"w": W},
    )
    reduction = reduce_floats(made, F16)
    assert (reduction.reduced, reduction.kept) == (2, {})
    assert types(made) == {"MatMul": "FLOAT16", "Relu": "FLOAT16"}
    assert made.graph.inputs[0].dtype is made.graph.outputs[0].dtype is ir.DataType.FLOAT
    assert [value.dtype for value in made.graph.initializers.values()] == [F16]
    np.testing.assert_allclose(run(made), np.maximum(X @ W, 0), rtol=0, atol=2e-3)


def test_operators_that_overflow_and_those_between_stay_in_float32() -> None:
    """Mean of squares: 300 * 300 is beyond float16."""
    made = model(
        helper.make_node("Pow", ["x", "two"], ["s"]),
        helper.make_node("ReduceMean", ["s"], ["m"], keepdims=1),
        helper.make_node("Add", ["m", "eps"], ["e"]),
        helper.make_node("Sqrt", ["e"], ["r"]),
        helper.make_node("Div", ["x", "r"], ["y"]),
        weights={"two": np.array(2, np.float32), "eps": np.array(1e-6, np.float32)},
    )
    reduction = reduce_floats(made, F16)
    assert reduction.kept == {"Pow": 1, "ReduceMean": 1, "Add": 1, "Sqrt": 1}
    large = X * 300
    want = large / np.sqrt((large**2).mean() + 1e-6)
    np.testing.assert_allclose(run(made, large), want, rtol=2e-3)


def test_angles_of_positions_stay_in_float32() -> None:
    made = model(
        helper.make_node("Cast", ["x"], ["p"], to=FLOAT),
        helper.make_node("Mul", ["p", "f"], ["a"]),
        helper.make_node("Sin", ["a"], ["s"]),
        helper.make_node("Mul", ["s", "w"], ["y"]),
        weights={"f": np.array(0.731, np.float32), "w": np.array(1.5, np.float32)},
        x=TensorProto.INT64,
        shape=("n",),
    )
    reduction = reduce_floats(made, F16)
    assert reduction.kept == {"Cast": 1, "Mul": 1, "Sin": 1}
    positions = np.arange(4000, 4100)
    want = np.sin(positions.astype(np.float32) * np.float32(0.731)) * 1.5
    np.testing.assert_allclose(run(made, positions), want, atol=2e-3)


def test_branches_stay_in_float32_and_read_float32() -> None:
    def branch(name: str, op: str) -> onnx.GraphProto:
        node = helper.make_node(op, ["h"], [name])
        return helper.make_graph(
            [node], name, [], [helper.make_tensor_value_info(name, FLOAT, None)]
        )

    made = model(
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("ReduceSum", ["h"], ["t"], keepdims=0),
        helper.make_node("Greater", ["t", "zero"], ["c"]),
        helper.make_node(
            "If", ["c"], ["b"], then_branch=branch("p", "Neg"), else_branch=branch("q", "Abs")
        ),
        helper.make_node("Add", ["b", "h"], ["y"]),
        weights={"w": W, "zero": np.array(0, np.float32)},
    )
    reduction = reduce_floats(made, F16)
    assert reduction.kept == {"ReduceSum": 1, "Greater": 1, "If": 1}
    product = X @ W
    want = (-product if product.sum() > 0 else np.abs(product)) + product
    np.testing.assert_allclose(run(made), want, atol=4e-3)


def test_inputs_that_onnx_fixes_to_float32_stay() -> None:
    made = model(
        helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear"),
        weights={"s": np.array([1, 2], np.float32)},
    )
    assert reduce_floats(made, F16).reduced == 1
    assert made.graph.initializers["s"].dtype is ir.DataType.FLOAT
    assert run(made).shape == (3, 8)


@pytest.mark.parametrize(
    ("opset", "kept"),
    [
        pytest.param(20, {"Conv": 1}, id="20: convolutions know no bfloat16"),
        pytest.param(22, {}, id="22: they do"),
    ],
)
def test_operators_that_take_bfloat16_depend_on_the_opset(opset: int, kept: dict[str, int]) -> None:
    made = model(
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("Tanh", ["c"], ["y"]),
        weights={"w": np.ones((2, 3, 1), np.float32)},
        opset=opset,
        shape=("n", 3, 5),
    )
    assert reduce_floats(made, BF16).kept == kept
    onnx.checker.check_model(ir.to_proto(made), full_check=True)


@pytest.mark.parametrize("target", [F16, BF16], ids=["float16", "bfloat16"])
def test_most_negative_float32_stays_finite(target: ir.DataType) -> None:
    given = np.array([-3.4e38, np.inf, 1.0], np.float32)
    found = convert(ir.tensor(given), target, "w").numpy().astype(np.float32)
    assert np.isfinite(found[0])
    assert found[0] < -6e4
    assert np.isposinf(found[1])
    assert found[2] == 1
