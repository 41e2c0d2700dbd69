"""Files with other declared shapes."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from modelexport_exporter.onnx_file.output_shapes import write_with_shapes
from modelexport_exporter.onnx_file.read_back import read_back


def branch(name: str) -> onnx.GraphProto:
    value = helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 4])
    return helper.make_graph([helper.make_node("Neg", ["m"], [name])], name, [], [value])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    info, float32 = helper.make_tensor_value_info, TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["m"]),
            helper.make_node(
                "If", ["c"], ["y"], then_branch=branch("one"), else_branch=branch("two")
            ),
        ],
        "g",
        [info("x", float32, ["n", 4]), info("c", TensorProto.BOOL, [])],
        [info("y", float32, [3, 4]), info("m", float32, [3, 4])],
        value_info=[info("other", float32, [3, 4])],
    )
    path = tmp_path / "model.onnx"
    opset = helper.make_opsetid("", 18)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    return path


def test_outputs_get_other_shapes_and_nothing_else_changes(path: Path) -> None:
    target = path.with_name("other.onnx")
    file = write_with_shapes(path, target, {"y": ("n", "?"), "m": None})
    assert file.name == "model.onnx"
    assert file.size_bytes == target.stat().st_size
    assert [tensor.shape for tensor in read_back(target).outputs] == [["n", "?"], ["..."]]
    before, after = onnx.load(path), onnx.load(target)
    for model in (before, after):
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
    assert before == after


def test_a_scalar_is_no_missing_shape(path: Path) -> None:
    target = path.with_name("other.onnx")
    write_with_shapes(path, target, {"y": ()})
    assert [tensor.shape for tensor in read_back(target).outputs] == [[], [3, 4]]


def test_inner_shapes_are_forgotten_in_branches_too(path: Path) -> None:
    target = path.with_name("other.onnx")
    write_with_shapes(path, target, {}, forget_inner=True)
    graph = onnx.load(target).graph
    inner = [graph.value_info[0], *(a.g.output[0] for a in graph.node[1].attribute)]
    assert len(inner) == 3
    for value in inner:
        assert value.type.tensor_type.elem_type == TensorProto.FLOAT
        assert not value.type.tensor_type.HasField("shape")
    assert [tensor.shape for tensor in read_back(target).inputs] == [["n", 4], []]
