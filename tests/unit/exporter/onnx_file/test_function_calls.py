"""Files of a few KB whose functions stand for a thousand million nodes."""

from __future__ import annotations

import time
from pathlib import Path

import onnx
import pytest
from onnx import helper

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.function_calls import TooManyNodesError, check_functions
from modelexport_exporter.onnx_file.inspection import inspect_file
from modelexport_exporter.workers.artifact import read_external_names

DOMAIN = "own"
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]


def function(name: str, *nodes: onnx.NodeProto) -> onnx.FunctionProto:
    return helper.make_function(DOMAIN, name, ["x"], ["y"], list(nodes), OPSETS)


def call(name: str, source: str, target: str) -> onnx.NodeProto:
    return helper.make_node(name, [source], [target], domain=DOMAIN)


def model_calling(name: str, *functions: onnx.FunctionProto) -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in "xy")
    graph = helper.make_graph([call(name, "x", "y")], "g", [x], [y])
    return helper.make_model(graph, functions=functions, opset_imports=OPSETS, ir_version=9)


def doubling(levels: int) -> onnx.ModelProto:
    leaf = function("F0", helper.make_node("Identity", ["x"], ["y"]))
    rest = [
        function(f"F{n}", call(f"F{n - 1}", "x", "t"), call(f"F{n - 1}", "t", "y"))
        for n in range(1, levels)
    ]
    return model_calling(f"F{levels - 1}", leaf, *rest)


def test_ordinary_functions(tmp_path: Path) -> None:
    check_functions(doubling(15))
    onnx.save(doubling(5), tmp_path / "model.onnx")
    assert inspect_file(tmp_path / "model.onnx").valid


@pytest.mark.parametrize(
    "model",
    [
        doubling(30),
        model_calling("F", function("F", call("F", "x", "y"))),
        model_calling("F", function("F", call("G", "x", "y")), function("G", call("F", "x", "y"))),
    ],
    ids=["doubling", "itself", "each other"],
)
def test_functions_that_cannot_be_written_out(model: onnx.ModelProto, tmp_path: Path) -> None:
    """Twenty-two levels took the checker 14 s, each further one twice as long."""
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    began = time.process_time()
    with pytest.raises(TooManyNodesError, match="more than 1,000,000 nodes"):
        inspect_file(path)
    with pytest.raises(ExportFailure) as caught:
        read_external_names(path, lambda *_: None)
    assert caught.value.reason is Reason.ARTIFACT_INVALID
    assert time.process_time() - began < 2
