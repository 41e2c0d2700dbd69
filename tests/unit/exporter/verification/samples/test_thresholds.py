"""What a graph decides on, at which numbers, and what it divides by."""

from __future__ import annotations

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
        ("y = Greater(x, k)", {"k": 3.0}, [("x", [3.0])]),
        ("y = Relu(x)", {}, [("x", [0.0])]),
        ("y = Clip(x, k, o)", {"k": -2.0, "o": 5.0}, [("x", [-2.0, 5.0])]),
        ("y = Shrink<lambd=0.25>(x)", {}, [("x", [0.25, -0.25])]),
        ("y = ThresholdedRelu<alpha=12.5>(x)", {}, [("x", [12.5, -12.5])]),
        ("y = HardSigmoid<alpha=0.25, beta=0.5>(x)", {}, [("x", [-2.0, 2.0])]),
        ("y = Where(x, k, x)", {"k": 4.0}, []),
        ("y = Mod(x, k)", {"k": 4.0}, []),
    ],
)
def test_decisions(
    nodes: str, constants: dict[str, float], expected: list[tuple[str, list[float]]]
) -> None:
    values = graph_of(nodes, {name: single(value) for name, value in constants.items()})
    found = [
        (name, np.concatenate([target.reshape(-1) for target in targets]).tolist())
        for name, targets in values.decisions()
    ]
    assert found == expected


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
