"""Logarithms of sums and of sigmoids, in the far range where onnxruntime's kernels lose them."""

from __future__ import annotations

import math

import numpy as np
import onnx
import onnx_ir as ir
import pytest
import torch

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, operators, rewritten, run

INF, NAN = math.inf, math.nan
ROWS = np.array(
    [
        [-INF, -200.0, -300.0],
        [-INF, -INF, -INF],
        [INF, 1.0, -INF],
        [-INF, 90.0, 80.0],
        [NAN, 1.0, 2.0],
        [-INF, NAN, 0.0],
        [1.0, 2.0, -3.0],
        [-1e4, -1e4, -INF],
    ]
)


def close(found: Array, want: torch.Tensor) -> None:
    np.testing.assert_allclose(found, want.numpy(), rtol=3e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_log_sum_exp_with_a_leading_infinity(dtype: type, keep: int, opset: int) -> None:
    x: Array = ROWS.astype(dtype)
    axes = {} if opset >= 18 else {"axes": [1]}
    constants = {1: np.array([1])} if opset >= 18 else {}
    model = graph_of("ReduceLogSumExp", [x], constants, opset, keepdims=keep, **axes)
    close(rewritten(model, [x]), torch.from_numpy(x).logsumexp(1, bool(keep)))


def test_log_sum_exp_of_all() -> None:
    x = np.array([[-INF, -200.0], [-250.0, -INF]], np.float32)
    model = graph_of("ReduceLogSumExp", [x], keepdims=0)
    close(rewritten(model, [x]), torch.from_numpy(x).logsumexp((0, 1)))


FAR: list[float] = [-INF, -1000, -80, -30, -18.5, -3, 0, 5, 16.9, 60, INF, NAN]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithm_of_a_sigmoid(dtype: type) -> None:
    x: Array = np.array(FAR, dtype)
    model = followed_by(graph_of("Sigmoid", [x]), Log=[])
    close(rewritten(model, [x]), torch.from_numpy(x).sigmoid().log())


def test_root_of_a_product_of_a_sigmoid() -> None:
    x: Array = np.array(FAR, np.float32)
    half = np.array(0.1, np.float32)
    model = followed_by(graph_of("Sigmoid", [x]), Mul=[half], Abs=[], Pow=[half])
    close(rewritten(model, [x]), (torch.from_numpy(x).sigmoid() * 0.1).pow(0.1))


@pytest.mark.parametrize(
    ("operator", "other"),
    [("Pow", 2.0), ("Greater", 0.5), ("Less", -0.5), ("Div", 3.0), ("Mul", 1e6), ("Softmax", None)],
)
def test_sigmoids_that_nothing_magnifies_stay(operator: str, other: float | None) -> None:
    x: Array = np.array(FAR, np.float32)
    given = [] if other is None else [np.array(other, np.float32)]
    layer = {} if operator in {"Greater", "Less", "Softmax"} else {"MatMul": [x]}
    model = followed_by(graph_of("Sigmoid", [x]), **{operator: given}, **layer)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Sigmoid", operator, *layer]


@pytest.mark.parametrize(
    ("operator", "other"), [("Pow", -1.0), ("Greater", 1e-9), ("Equal", 1.0), ("ArgMax", None)]
)
def test_sigmoids_that_something_magnifies(operator: str, other: float | None) -> None:
    x: Array = np.array([-30.0, -20.0, -25.0], np.float32)
    given = [] if other is None else [np.array(other, np.float32)]
    model = followed_by(graph_of("Sigmoid", [x]), **{operator: given})
    p = torch.from_numpy(x).sigmoid()
    want = {"Pow": 1 / p, "Greater": p > 1e-9, "Equal": p == 1.0, "ArgMax": p.argmax(0, True)}
    close(rewritten(model, [x]), want[operator])


def test_sigmoids_in_a_product_whose_largest_element_is_sought() -> None:
    """Masks and class probabilities of a segmentation: both of them may be nearly 0."""
    x: Array = np.array([[-30.0, -20.0], [-20.0, -30.0]], np.float32)
    y: Array = np.array([[0.9, 1e-3], [1e-3, 0.9]], np.float32)
    model = ir.from_onnx_text(
        """<ir_version: 10, opset_import: ["": 20]>
        both (float[2, 2] x0, float[2, 2] x1) => (int64[2] largest) {
            masks = Sigmoid(x0)
            scores = MatMul(masks, x1)
            largest = ArgMax<axis: int = 1, keepdims: int = 0>(scores)
        }"""
    )
    want = (torch.from_numpy(x).sigmoid() @ torch.from_numpy(y)).argmax(1)
    close(rewritten(model, [x, y]), want)


def test_cosine_of_a_tanh() -> None:
    """Tanh of these is 1.0000001 or more in onnxruntime, which has no cosine."""
    x: Array = np.linspace(-20, 20, 4001).astype(np.float32)
    model = followed_by(graph_of("Tanh", [x]), Acos=[])
    found = rewritten(model, [x])
    want = torch.from_numpy(x).tanh().acos().numpy()
    np.testing.assert_allclose(found, want, atol=1e-3)


def test_tanh_that_nothing_magnifies_stays() -> None:
    x: Array = np.array(FAR, np.float32)
    model = followed_by(graph_of("Tanh", [x]), Mul=[np.array(2, np.float32)])
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Tanh", "Mul"]


def followed_by(model: ir.Model, **operator: list[Array]) -> ir.Model:
    """Return the model with further operators, each of the last result and of constants."""
    for name, others in operator.items():
        result = model.graph.outputs[0]
        constants = [ir.node("Constant", [], {"value": ir.tensor(other)}) for other in others]
        node = ir.node(name, [result, *(constant.outputs[0] for constant in constants)])
        node.outputs[0].name = f"{result.name}_{name}"
        for place, constant in enumerate(constants):
            constant.outputs[0].name = f"{result.name}_{name}_{place}"
        model.graph.extend([*constants, node])
        model.graph.outputs[0] = node.outputs[0]
    return ir.serde.deserialize_model(
        onnx.shape_inference.infer_shapes(ir.serde.serialize_model(model))
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots(dtype: type) -> None:
    x: Array = np.array([-INF, -2.0, -0.0, 0.0, 0.25, 3.0, INF, NAN], dtype)
    model = graph_of("Pow", [x], {1: np.array(0.5, dtype)})
    want = torch.from_numpy(x).pow(0.5)
    found = rewritten(model, [x])
    close(found, want)
    np.testing.assert_array_equal(np.signbit(found)[2:4], [True, False])


def test_other_powers_stay() -> None:
    x = np.array([4.0, 9.0], np.float32)
    for number in (-0.5, 2.0, 0.25):
        model = graph_of("Pow", [x], {1: np.array(number, np.float32)})
        avoid_inexact_kernels(model, Declared({}, ()))
        assert operators(model) == ["Pow"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scaled", [False, True])
def test_sigmoids_that_are_returned_are_exact(dtype: type, scaled: bool) -> None:
    x: Array = np.array(FAR, dtype)
    model = graph_of("Sigmoid", [x])
    model = followed_by(model, Mul=[np.array(0.5, dtype)]) if scaled else model
    close(rewritten(model, [x]), torch.from_numpy(x).sigmoid() * (0.5 if scaled else 1))


def test_other_sigmoids_stay() -> None:
    x = np.array([-30.0, 1.0], np.float32)
    model = followed_by(graph_of("Sigmoid", [x]), MatMul=[np.array([0, 1], np.float32)])
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Sigmoid", "MatMul"]
    assert run(model, [x]) == pytest.approx(0.7310586)


@pytest.mark.parametrize("opset", [13, 20])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("numbers", [[1e-30], [-1e38], [NAN], [-INF], [0.0], [3.0, -4.0], []])
def test_the_norm_of_one_number_is_its_magnitude(
    numbers: list[float], keep: int, opset: int
) -> None:
    x: Array = np.array([numbers], np.float32)
    axes = {} if opset >= 18 else {"axes": [1]}
    constants = {1: np.array([1])} if opset >= 18 else {}
    model = graph_of("ReduceL2", [x], constants, opset, keepdims=keep, **axes)
    model.graph.inputs[0].shape = ir.Shape(["b", "n"])
    avoid_inexact_kernels(model, Declared(may_be_one=("n",)))
    assert "Where" in operators(model)
    close(run(model, [x]), torch.linalg.vector_norm(torch.from_numpy(x), dim=1, keepdim=bool(keep)))


@pytest.mark.parametrize("size", ["n", 3])
def test_a_norm_of_more_numbers_stays(size: int | str) -> None:
    x: Array = np.array([[1.0, 2.0, 3.0]], np.float32)
    model = graph_of("ReduceL2", [x], {1: np.array([1])}, keepdims=0)
    model.graph.inputs[0].shape = ir.Shape(["b", size])
    avoid_inexact_kernels(model, Declared(may_be_one=("b",)))
    assert operators(model) == ["ReduceL2"]


@pytest.mark.parametrize(
    ("dtype", "opset"),
    [(np.float32, 11), (np.float64, 11), (np.float16, 12), (np.float16, 20), (np.float32, 20)],
)
@pytest.mark.parametrize("bound", [1, 2])
def test_one_bound_keeps_infinities(dtype: type, opset: int, bound: int) -> None:
    x: Array = np.array([-INF, -2.0, 0.5, INF, NAN], dtype)
    model = graph_of("Clip", [x], {bound: np.array(0.25, dtype)}, opset)
    limits = {"min" if bound == 1 else "max": 0.25}
    close(rewritten(model, [x]), torch.from_numpy(x).clamp(**limits))


def test_two_bounds_stay() -> None:
    x: Array = np.array([-INF, 0.5], np.float32)
    model = graph_of("Clip", [x], {1: np.array(0, np.float32), 2: np.array(1, np.float32)})
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Clip"]


PLACES = np.array([[0, 2, 0], [1, 1, 1]])
HALVES = np.array([[0.5, 2048.0, 1.0], [-3.0, 0.25, 7.0]], np.float16)


@pytest.mark.parametrize("how", ["add", "mul", "max", "min"])
def test_halves_that_meet_at_a_place(how: str) -> None:
    x = np.ones((2, 3), np.float16)
    model = graph_of("ScatterElements", [x, PLACES, HALVES], axis=1, reduction=how)
    reduce = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}[how]
    want = torch.from_numpy(x).scatter_reduce(
        1, torch.from_numpy(PLACES), torch.from_numpy(HALVES), reduce
    )
    found = rewritten(model, [x, PLACES, HALVES])
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, want.numpy(), rtol=1e-3)


def test_halves_added_at_rows() -> None:
    x, rows = np.ones((3, 2), np.float16), np.array([[0], [2], [0]])
    updates = np.array([[1, 2], [3, 4], [5, 6]], np.float16)
    found = rewritten(
        graph_of("ScatterND", [x, rows, updates], reduction="add"), [x, rows, updates]
    )
    assert found.dtype == np.float16
    assert found.tolist() == [[7, 9], [1, 1], [4, 5]]


def test_halves_without_a_reduction_stay() -> None:
    x = np.ones((2, 3), np.float16)
    model = graph_of("ScatterElements", [x, PLACES, HALVES], axis=1)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["ScatterElements"]
