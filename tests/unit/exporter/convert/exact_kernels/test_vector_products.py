"""A transposed matrix times a vector, as onnxruntime's optimizer leaves it."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, operators, run

Shapes = tuple[list[int], list[int]]


def product(shapes: Shapes, transposed: int, opset: int, dtype: type) -> ir.Model:
    """Return MatMul of x0 and x1, one of them transposed; their dims are dynamic."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    given = [
        helper.make_tensor_value_info(
            f"x{place}", kind, [f"d{place}{axis}" for axis in range(len(shape))]
        )
        for place, shape in enumerate(shapes)
    ]
    perm = [*range(len(shapes[transposed]) - 2), -1, -2]
    perm = [axis % len(shapes[transposed]) for axis in perm]
    names = ["x0", "x1"]
    turn = helper.make_node("Transpose", [names[transposed]], ["t"], perm=perm)
    names[transposed] = "t"
    nodes = [turn, helper.make_node("MatMul", names, ["y"])]
    graph = helper.make_graph(nodes, "g", given, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return ir.serde.deserialize_model(onnx.shape_inference.infer_shapes(model))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("opset", [11, 20])
@pytest.mark.parametrize(
    ("shapes", "transposed"),
    [(([2, 3], [2]), 0), (([5], [3, 5]), 1), (([4, 2, 3], [2]), 0), (([5], [4, 3, 5]), 1)],
)
def test_products_with_a_vector(shapes: Shapes, transposed: int, opset: int, dtype: type) -> None:
    model = product(shapes, transposed, opset, dtype)
    avoid_inexact_kernels(model, Declared({}, ()))
    generator = np.random.default_rng(0)
    arrays: list[Array] = [generator.standard_normal(shape).astype(dtype) for shape in shapes]
    turned = [
        np.swapaxes(x, -1, -2) if place == transposed else x for place, x in enumerate(arrays)
    ]
    np.testing.assert_allclose(run(model, arrays), turned[0] @ turned[1], rtol=1e-5, atol=1e-6)


def test_products_of_matrices_stay() -> None:
    model = product(([2, 3], [2, 4]), 0, 20, np.float32)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Transpose", "MatMul"]
