"""The inputs at which a graph decides, found by inverting its arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper, parser

from modelexport_exporter.verification.samples.thresholds import GraphValues


def graph_of(
    nodes: str, constants: Mapping[str, Any], dtype: int = TensorProto.FLOAT
) -> GraphValues:
    """Return the values of a graph with an input `x`; `nodes`: separated by semicolons."""
    made = [parser.parse_node(line.strip()) for line in nodes.split(";")]
    tensors = [
        numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()
    ]
    graph = helper.make_graph(
        made,
        "g",
        [helper.make_tensor_value_info("x", dtype, ["n", 4])],
        [onnx.ValueInfoProto(name="y")],
        tensors,
    )
    return GraphValues.of(graph)


def single(*values: float) -> NDArray[np.float32]:
    return np.array(values if len(values) > 1 else values[0], np.float32)


@pytest.mark.parametrize(
    ("nodes", "constants", "expected"),
    [
        ("m = Mul(x, k); s = Sub(m, o); y = Relu(s)", {"k": 0.02, "o": 1.0}, {50.0}),
        ("m = Mul(k, x); s = Sub(o, m); y = Relu(s)", {"k": 0.02, "o": 1.0}, {50.0}),
        ("d = Div(x, k); y = Greater(d, o)", {"k": 4.0, "o": 3.0}, {12.0}),
        ("d = Div(k, x); y = Greater(d, o)", {"k": 4.0, "o": 8.0}, {0.5}),
        ("a = Add(x, k); n = Neg(a); y = LessOrEqual(n, o)", {"k": 4.0, "o": 3.0}, {-7.0}),
        ("u = Unsqueeze(x, i); y = Clip(u, k, o)", {"k": -2.0, "o": 5.0}, {-2.0, 5.0}),
        ("y = Shrink<lambd=0.25>(x)", {}, {0.25, -0.25}),
        ("y = ThresholdedRelu<alpha=12.5>(x)", {}, {12.5, -12.5}),
        ("e = Exp(x); y = Greater(e, k)", {"k": 4.0}, set()),
        ("y = Where(x, k, x)", {"k": 4.0}, set()),
    ],
)
def test_thresholds_of_inputs(
    nodes: str, constants: dict[str, float], expected: set[float]
) -> None:
    values = graph_of(nodes, {name: single(value) for name, value in constants.items()})
    found = sorted(values.thresholds())
    assert len(found) == len(expected)
    assert all(
        math.isclose(one, other, rel_tol=1e-6)
        for one, other in zip(found, sorted(expected), strict=True)
    )


def test_thresholds_of_columns() -> None:
    nodes = "s = Sub(x, mean); d = Div(s, std); y = Greater(d, k)"
    constants = {"mean": single(1, 2, 3, 4), "std": single(1, 1, 2, 2), "k": single(3.0)}
    values = graph_of(nodes, constants)
    assert set(values.thresholds()) == {4.0, 5.0, 9.0, 10.0}


def test_thresholds_of_integers_are_integers() -> None:
    constants = {"k": np.array(3), "o": np.array(100)}
    values = graph_of("m = Mul(x, k); y = Greater(m, o)", constants, TensorProto.INT64)
    found = list(values.thresholds())
    assert found == [33]
    assert isinstance(found[0], int)


def test_constants_that_a_search_picks_are_compared_with() -> None:
    edges = {"edges": single(-1, 0.5, 2)}
    values = graph_of("g = Gather(edges, i); y = GreaterOrEqual(g, x)", edges)
    assert set(values.compared()) == {-1.0, 0.5, 2.0}


@pytest.mark.parametrize("attribute", ["value_float=3.25", "value_floats=[3.25]"])
def test_constants_in_attributes_are_compared_with(attribute: str) -> None:
    values = graph_of(f"k = Constant<{attribute}>(); y = Equal(x, k)", {})
    assert set(values.compared()) == {3.25}


@pytest.mark.parametrize("nodes", ["y = Mod(x, k)", "e = Expand(k, s); y = Div(x, e)"])
def test_divisors(nodes: str) -> None:
    values = graph_of(nodes, {"k": np.array(86_400)}, TensorProto.INT64)
    assert list(values.divisors()) == [86_400]
