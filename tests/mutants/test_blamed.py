"""Where the node that blame names lies, as seen from the damage, on graphs of a few nodes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from modelexport_exporter.core.blame import Blame
from mutants.blamed import AMONG, ELSEWHERE, EXACT, NEXT, NONE, damaged_nodes, place_of
from mutants.mutations import damaged, sites_of


def model() -> onnx.ModelProto:
    """Return y = exp(-relu(x @ w + b))."""
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 3]) for name in ("x", "y")
    )
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"], name="linear"),
        helper.make_node("Relu", ["z"], ["r"], name="relu"),
        helper.make_node("Neg", ["r"], ["n"], name="neg"),
        helper.make_node("Exp", ["n"], ["y"], name="exp"),
    ]
    weights = [
        numpy_helper.from_array(np.eye(3, dtype=np.float32), "w"),
        numpy_helper.from_array(np.ones(3, np.float32), "b"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def damage(operator: str, where: str) -> onnx.ModelProto:
    mutants = sites_of(model(), {})[operator]
    return damaged(model(), {}, next(own for own in mutants if where in own.where))


@pytest.mark.parametrize(
    ("operator", "where", "nodes"),
    [
        ("sign_bit", "w", {"linear"}),
        ("dropped_bias", "", {"linear"}),
        ("missing_activation", "r", {"linear", "relu"}),
    ],
)
def test_damaged_nodes(operator: str, where: str, nodes: set[str]) -> None:
    found = damaged_nodes(model(), damage(operator, where))
    assert {node.name for node in found} == nodes


@pytest.mark.parametrize(
    ("said", "place"),
    [
        (Blame(node="linear"), EXACT),
        (Blame(node="neg", among=("linear", "relu", "neg")), AMONG),
        (Blame(node="relu"), NEXT),
        (Blame(node="exp"), ELSEWHERE),
        (Blame(why_not="out of time"), NONE),
    ],
)
def test_places(said: Blame, place: str) -> None:
    changed = damage("dropped_bias", "")
    assert place_of(said, changed, damaged_nodes(model(), changed)) == place
