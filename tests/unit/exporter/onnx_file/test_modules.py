"""The tree of modules of an ONNX file."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from modelexport_exporter.onnx_file import modules
from modelexport_exporter.onnx_file.modules import CLASSES, SCOPES, module_scopes

FLOAT = onnx.TensorProto.FLOAT


def node(
    name: str, scopes: object = None, classes: object = None, inputs: tuple[str, ...] = ()
) -> onnx.NodeProto:
    made = helper.make_node("Relu", list(inputs), [f"{name}.out"], name=name)
    for key, value in ((SCOPES, scopes), (CLASSES, classes)):
        if value is not None:
            made.metadata_props.add(key=key, value=str(value))
    return made


def model(*nodes: onnx.NodeProto, weights: dict[str, np.ndarray] | None = None) -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()]
    return helper.make_model(helper.make_graph(list(nodes), "g", [], [], tensors))


def rows(found: onnx.ModelProto) -> list[tuple[str, str, int, int]]:
    return [
        (scope.path, scope.module_class, scope.nodes, scope.parameters)
        for scope in module_scopes(found)
    ]


def test_torch_export_names_path_and_class() -> None:
    found = model(
        node(
            "a", ["", "body", "body.0", "linear"], ["Net", "Seq", "Linear", "aten.linear"], ("w",)
        ),
        node("b", ["", "head", "linear"], ["Net", "Linear", "aten.linear"], ("v",)),
        node("c", ["", "body", "body.1", "relu"], ["Net", "Seq", "ReLU", "aten.relu"]),
        weights={"w": np.zeros((2, 3), np.float32), "v": np.zeros(5, np.float16)},
    )
    assert rows(found) == [
        ("", "Net", 3, 11),
        ("body", "Seq", 2, 6),
        ("body.0", "Linear", 1, 6),
        ("body.1", "ReLU", 1, 0),
        ("head", "Linear", 1, 5),
    ]


def test_a_module_that_is_not_called_itself_is_a_step_on_the_way() -> None:
    found = model(node("a", ["", "blocks.0", "linear"], ["Net", "Linear", "aten.linear"]))
    assert [row[:2] for row in rows(found)] == [("", "Net"), ("blocks", ""), ("blocks.0", "Linear")]


def test_calls_of_one_module_are_one_module() -> None:
    found = model(node("a", ["", "l", "linear"]), node("b", ["", "l@1", "linear_1"]))
    assert [(path, nodes) for path, _, nodes, _ in rows(found)] == [("", 2), ("l", 2)]


def test_names_that_are_torchs_own_are_no_modules() -> None:
    hook = "_empty_nn_module_stack_from_metadata_hook"
    found = model(
        node("a", ["", "_orig_mod", "_orig_mod.l", "linear"], ["Net", "Net", "Linear", "linear"]),
        node("b", [hook, "add"], ["None", "add"]),
        node("c", ["", "l", "relu"], ["Net", "Linear", "relu"]),
    )
    assert rows(found) == [("", "Net", 3, 0), ("l", "Linear", 2, 0)]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("/features/0/Conv", "features.0"),
        ("/layer1/layer1.0/conv1/Conv", "layer1.0.conv1"),
        ("/Add", ""),
        ("Conv_12", ""),
    ],
)
def test_torchscript_names_hold_the_module_path(name: str, path: str) -> None:
    assert rows(model(node(name)))[-1][0] == path


def test_nodes_of_a_branch_are_where_the_branch_is() -> None:
    inner = helper.make_graph([node("inner")], "then", [], [])
    outer = node("if", ["", "gate", "cond"], ["Net", "Gate", "cond"])
    outer.attribute.append(helper.make_attribute("then_branch", inner))
    assert [(path, nodes) for path, _, nodes, _ in rows(model(outer))] == [("", 2), ("gate", 2)]


def test_shapes_and_indices_are_no_parameters_and_a_shared_weight_counts_once() -> None:
    found = model(
        node("a", ["", "x", "op"], None, ("w", "shape")),
        node("b", ["", "y", "op"], None, ("w",)),
        weights={"w": np.zeros(4, np.float32), "shape": np.zeros(9, np.int64)},
    )
    assert [(path, parameters) for path, _, _, parameters in rows(found)] == [
        ("", 4),
        ("x", 4),
        ("y", 0),
    ]


def test_metadata_that_is_no_list_is_passed_over() -> None:
    assert rows(model(node("a", "__import__('os')"))) == [("", "", 1, 0)]


def test_of_a_model_of_many_modules_the_deepest_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(modules, "MOST", 3)
    found = model(node("a", ["", "x", "x.y", "op"]), node("b", ["", "z", "z.y", "op"]))
    assert [path for path, *_ in rows(found)] == ["", "x", "z"]
