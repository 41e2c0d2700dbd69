"""Transposed weights are the checkpoint's again, and the graph computes the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from modelexport_exporter.onnx_file.external_data import Placed
from modelexport_exporter.onnx_file.stored_tensors import StoredFile, StoredTensors
from modelexport_exporter.onnx_file.untransposed import use_stored_weights

WEIGHT = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)


def stored(tmp_path: Path) -> StoredTensors:
    path = tmp_path / "checkpoint"
    path.write_bytes(WEIGHT.tobytes())
    return StoredTensors([StoredFile(path, (Placed(0, WEIGHT.nbytes),))])


def model(
    shape: list[Any], nodes: Sequence[onnx.NodeProto], weight: NDArray[Any], opset: int = 20
) -> ir.Model:
    """A model of x and an initializer w, whose memory is not copied."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*shape[:-1], 3])],
        [helper.make_tensor("w", TensorProto.FLOAT, weight.shape, weight.ravel())],
    )
    made = ir.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    )
    made.graph.initializers["w"].const_value = ir.Tensor(weight, name="w")
    return made


def run(made: ir.Model, x: NDArray[Any]) -> NDArray[Any]:
    content = ir.to_proto(made).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["y"], {"x": x})[0])


MATMUL = helper.make_node("MatMul", ["x", "w"], ["y"])
UNFOLDED = (
    helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]),
    helper.make_node("MatMul", ["x", "t"], ["y"]),
)
NOT_LAST = (
    helper.make_node("MatMul", ["x", "w"], ["p"]),
    helper.make_node("Relu", ["p"], ["y"]),
)
OF_ROWS = ["Constant", "Constant", "Shape", "Concat", "Reshape", "Gemm", "Reshape"]


@dataclass(frozen=True)
class Product:
    """A graph before, and the operators that it has afterwards."""

    sizes: tuple[int, ...]
    operators: list[str]
    nodes: tuple[onnx.NodeProto, ...] = (MATMUL,)
    weight: NDArray[Any] = field(default_factory=lambda: WEIGHT.T)
    opset: int = 20

    def model(self) -> ir.Model:
        names = [f"d{place}" for place in range(len(self.sizes) - 1)]
        return model([*names, 5], self.nodes, self.weight, self.opset)


@pytest.mark.parametrize(
    "product",
    [
        pytest.param(Product((4, 5), ["Gemm"]), id="rows"),
        pytest.param(Product((4, 5), ["Gemm"], UNFOLDED, WEIGHT), id="not folded"),
        pytest.param(Product((2, 4, 5), OF_ROWS), id="more dims"),
        pytest.param(Product((0, 4, 5), OF_ROWS), id="no rows"),
        pytest.param(Product((2, 4, 5), ["Transpose", "MatMul"], opset=13), id="old opset"),
        pytest.param(Product((5,), ["Transpose", "MatMul"]), id="a vector"),
        pytest.param(Product((4, 5), ["Gemm", "Relu"], NOT_LAST), id="not the last node"),
        pytest.param(
            Product((4, 5), ["MatMul"], weight=np.ascontiguousarray(WEIGHT.T)),
            id="not the checkpoint's",
        ),
    ],
)
def test_products_are_the_same(tmp_path: Path, product: Product) -> None:
    x = np.random.default_rng(1).normal(size=product.sizes).astype(np.float32)
    expected = run(product.model(), x)
    made = product.model()

    use_stored_weights(made, stored(tmp_path), {}, 0)

    assert [node.op_type for node in made.graph] == product.operators
    found = run(made, x)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    onnx.checker.check_model(ir.to_proto(made), full_check=True)
    assert made.graph.outputs[0].name == "y"


def test_weights_have_the_names_of_the_module(tmp_path: Path) -> None:
    made = model(["n", 5], [MATMUL], WEIGHT.T)
    address = WEIGHT.__array_interface__["data"][0]
    use_stored_weights(made, stored(tmp_path), {address: "linear.weight"}, 0)
    assert list(made.graph.initializers) == ["linear.weight"]


def test_a_weight_that_is_also_used_otherwise_is_transposed_for_that(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
        helper.make_node("Add", ["p", "s"], ["y"]),
    ]
    x = np.ones((2, 5), np.float32)
    expected = run(model(["n", 5], nodes, WEIGHT.T), x)
    made = model(["n", 5], nodes, WEIGHT.T)
    use_stored_weights(made, stored(tmp_path), {}, 0)
    assert [node.op_type for node in made.graph] == ["Transpose", "Gemm", "ReduceSum", "Add"]
    np.testing.assert_allclose(run(made, x), expected, rtol=1e-5)


def test_small_weights_stay_as_they_are(tmp_path: Path) -> None:
    made = model(["n", 5], [MATMUL], WEIGHT.T)
    use_stored_weights(made, stored(tmp_path), {}, WEIGHT.nbytes)
    assert [node.op_type for node in made.graph] == ["MatMul"]
