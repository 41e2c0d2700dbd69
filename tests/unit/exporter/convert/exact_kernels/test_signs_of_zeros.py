"""Sums and means of negative zeros, where an operator further on shows their sign."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
import pytest
import torch

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, operators, rewritten

ROWS = np.array([[-0.0, -0.0, -0.0], [0.0, -0.0, 0.0], [-1.0, 3.0, -4.0]])


def divided(model: ir.Model, *between: str) -> ir.Model:
    """Let other operators of one input and a reciprocal follow a model."""
    value = model.graph.outputs[0]
    for place, operator in enumerate((*between, "Reciprocal")):
        node = ir.node(operator, [value])
        model.graph.append(node)
        node.outputs[0].name = f"further{place}"
        node.outputs[0].type, node.outputs[0].shape = value.type, value.shape
        value = node.outputs[0]
    model.graph.outputs[0] = value
    return model


def reduction(operator: str, x: Array, opset: int = 20) -> ir.Model:
    listed = opset >= (13 if operator == "ReduceSum" else 18)
    axes = {1: np.array([1])} if listed else {}
    return graph_of(operator, [x], axes, opset, keepdims=0, **({} if listed else {"axes": [1]}))


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("operator", "reduced"), [("ReduceSum", torch.sum), ("ReduceMean", torch.mean)]
)
def test_a_sum_of_negative_zeros_is_positive(
    operator: str, reduced: object, dtype: type, opset: int
) -> None:
    x: Array = ROWS.astype(dtype)
    want = 1 / -reduced(torch.from_numpy(x), 1)  # type: ignore[operator]
    assert want[0] == -math.inf
    found = rewritten(divided(reduction(operator, x, opset), "Neg"), [x])
    np.testing.assert_allclose(found, want.numpy(), rtol=3e-7)


def test_negative_results_stay_as_they_are() -> None:
    x = ROWS.astype(np.float32)
    found = rewritten(divided(reduction("ReduceSum", x)), [x])
    np.testing.assert_array_equal(found, np.array([math.inf, math.inf, -0.5], np.float32))


@pytest.mark.parametrize("between", [("Abs",), ("Exp",), ("Sigmoid",)])
def test_signs_that_do_not_show_cost_nothing(between: tuple[str, ...]) -> None:
    x = ROWS.astype(np.float32)
    model = avoid_inexact_kernels(divided(reduction("ReduceSum", x), *between), Declared())
    assert "Where" not in operators(model)


def test_sums_that_are_no_divisor_cost_nothing() -> None:
    x = ROWS.astype(np.float32)
    model = avoid_inexact_kernels(reduction("ReduceSum", x), Declared())
    assert operators(model) == ["ReduceSum"]
