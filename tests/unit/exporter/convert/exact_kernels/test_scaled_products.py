"""A factor beside a matrix product keeps its double precision in onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper, parser

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, operators, run

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 4))
PRODUCTS = {
    "after": "t = MatMul(x0, x1); y = Mul(t, c)",
    "after, on the left": "t = MatMul(x0, x1); y = Mul(c, t)",
    "before": "t = Mul(x0, c); y = MatMul(t, x1)",
    "before, on the right": "t = Mul(c, x1); y = MatMul(x0, t)",
    "divided": "t = MatMul(x0, x1); y = Div(t, c)",
    "divided before": "t = Div(x0, c); y = MatMul(t, x1)",
    "two factors": "t = MatMul(x0, x1); u = Mul(t, two); y = Mul(u, c)",
    "two factors before": "t = Mul(x0, c); u = Mul(t, two); y = MatMul(u, x1)",
    "transposed": "t = Mul(x1, c); u = Transpose<perm=[1, 0]>(t); y = MatMul(x0, u)",
    "transposed after": "u = MatMul(x0, x1); t = Transpose<perm=[1, 0]>(u); y = Mul(t, c)",
}


def product(nodes: str, factor: float, dtype: type = np.float64) -> ir.Model:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [parser.parse_node(line.strip()) for line in nodes.split(";")],
        "product",
        [helper.make_tensor_value_info(name, kind, [None, 4]) for name in ("x0", "x1")],
        [helper.make_tensor_value_info("y", kind, None)],
        [
            numpy_helper.from_array(np.array(factor, dtype), "c"),
            numpy_helper.from_array(np.array([2], dtype), "two"),
        ],
    )
    opsets = [helper.make_opsetid("", 20)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return ir.serde.deserialize_model(onnx.shape_inference.infer_shapes(model))


def computed(nodes: str, factor: float) -> Array:
    """Return what the nodes say, by numpy."""
    product = A @ (B.T if "u = Transpose" in nodes else B)
    product = product.T if "t = Transpose" in nodes else product
    scaled: Array = product / factor if "Div" in nodes else product * factor
    return scaled * 2 if "two" in nodes else scaled


@pytest.mark.parametrize("factor", [0.3, -1e-5, 1e300])
@pytest.mark.parametrize("nodes", PRODUCTS.values(), ids=PRODUCTS.keys())
def test_a_factor_is_not_rounded(nodes: str, factor: float) -> None:
    model = product(nodes, factor)
    avoid_inexact_kernels(model, Declared())
    assert "Sum" in operators(model)
    np.testing.assert_allclose(run(model, [A, B]), computed(nodes, factor), rtol=1e-13)


@pytest.mark.parametrize(
    ("nodes", "factor", "dtype"),
    [
        (PRODUCTS["after"], 0.125, np.float64),
        (PRODUCTS["after"], 3.0, np.float64),
        (PRODUCTS["divided"], 8.0, np.float64),
        (PRODUCTS["after"], 0.3, np.float32),
        ("t = Add(x0, x0); y = Mul(t, c)", 0.3, np.float64),
    ],
    ids=["a power of 2", "3", "by a power of 2", "float32", "no product"],
)
def test_what_an_attribute_holds_is_left_alone(nodes: str, factor: float, dtype: type) -> None:
    model = product(nodes, factor, dtype)
    before = operators(model)
    avoid_inexact_kernels(model, Declared())
    assert operators(model) == before


def test_onnxruntime_still_rounds_the_factor() -> None:
    """Else the rewriting can go."""
    found = run(product(PRODUCTS["after"], 0.3), [A, B])
    assert np.abs(found - A @ B * 0.3).max() > 1e-9


def test_a_factor_between_two_products() -> None:
    model = product("t = MatMul(x0, x1); u = Mul(t, c); y = MatMul(u, x1)", 0.3)
    avoid_inexact_kernels(model, Declared())
    assert operators(model).count("Sum") == 2
    np.testing.assert_allclose(run(model, [A, B]), A @ B * 0.3 @ B, rtol=1e-13)


def test_a_divisor_of_three_is_rewritten() -> None:
    """The attribute would be its reciprocal."""
    model = product(PRODUCTS["divided"], 3.0)
    avoid_inexact_kernels(model, Declared())
    np.testing.assert_allclose(run(model, [A, B]), A @ B / 3, rtol=1e-13)
