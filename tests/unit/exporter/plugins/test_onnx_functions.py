"""Functions in the file: those in use, for the file's opset."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest
from onnx import helper

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.plugins.onnx_functions import add_functions, at_opset, set_opsets


def function(
    name: str, *nodes: onnx.NodeProto, opset: int = 20, domain: str = "custom"
) -> onnx.FunctionProto:
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("custom", 1)]
    return helper.make_function(domain, name, ["x"], ["y"], list(nodes), imports)


def model(*operators: str, opset: int = 20) -> ir.Model:
    nodes = [
        helper.make_node(name, ["x"], [f"y{index}"], domain="custom")
        for index, name in enumerate(operators)
    ]
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    outputs = [
        helper.make_tensor_value_info(f"y{index}", onnx.TensorProto.FLOAT, [2])
        for index in range(len(operators))
    ]
    graph = helper.make_graph(nodes, "graph", [value], outputs)
    return ir.from_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]))


def test_used_function_is_added_with_its_dependencies() -> None:
    inner = function("Inner", helper.make_node("Relu", ["x"], ["y"]))
    outer = function("Outer", helper.make_node("Inner", ["x"], ["y"], domain="custom"))
    unused = function("Unused", helper.make_node("Relu", ["x"], ["y"]))
    built = model("Outer")
    add_functions(built, [outer, inner, unused])
    set_opsets(built, {"custom": 3})
    assert sorted(entry.name for entry in built.functions.values()) == ["Inner", "Outer"]
    assert built.opset_imports == {"": 20, "custom": 3}
    onnx.checker.check_model(ir.to_proto(built), full_check=True)


def test_domain_without_a_version_gets_1() -> None:
    built = model("Foo")
    set_opsets(built, {})
    assert built.opset_imports["custom"] == 1


def test_body_that_is_valid_in_the_opset_keeps_its_nodes() -> None:
    body = function("F", helper.make_node("CastLike", ["x", "x"], ["y"]), opset=15)
    moved = at_opset(body, 20)
    assert [entry.version for entry in moved.opset_import if not entry.domain] == [20]
    assert moved.node == body.node


@pytest.mark.parametrize(
    ("node", "opset", "becomes"),
    [
        (helper.make_node("Squeeze", ["x"], ["y"], axes=[0]), 11, "Squeeze"),
        (helper.make_node("Scatter", ["x", "x", "x"], ["y"], axis=0), 10, "ScatterElements"),
    ],
    ids=["an attribute that is an input now", "another name"],
)
def test_body_whose_operator_changed_is_converted(
    node: onnx.NodeProto, opset: int, becomes: str
) -> None:
    moved = at_opset(function("F", node, opset=opset), 20)
    assert moved.node[-1].op_type == becomes
    assert not moved.node[-1].attribute or becomes == "ScatterElements"


def test_body_that_cannot_be_converted_is_rejected() -> None:
    body = function("F", helper.make_node("Squeeze", ["x"], ["y"], axes=[0]), opset=11)
    body.attribute.append("alpha")
    with pytest.raises(ExportFailure) as failed:
        at_opset(body, 20)
    assert failed.value.reason is Reason.CODE_INVALID
    assert "Squeeze changed" in failed.value.message
