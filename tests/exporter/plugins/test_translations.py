"""Translations that plugins register, as documents show them, on each route."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
import torch
import yaml

from exporter.plugins.plugin_exports import EXAMPLE, ROUTES, TWO, export, imports
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Verdict
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.errors import RouteFallback
from modelexport_exporter.core.types import ExportTask, Rung
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model

pytestmark = pytest.mark.usefixtures("forget_plugins")


@pytest.mark.parametrize("plugin", ["old_elu", "elu_2_7", "registry_elu"])
@pytest.mark.parametrize("opset", [13, 20])
def test_elu_of_each_release(plugin: str, opset: int, tmp_path: Path) -> None:
    converted = export("Elu", tmp_path, plugin, opset=opset)
    assert converted.op_counts["Elu"] == 1
    assert ("Identity" in converted.op_counts) == (plugin == "registry_elu")


@pytest.mark.parametrize("opset", [15, 20])
def test_onnxscript_function_as_an_operator(opset: int, tmp_path: Path) -> None:
    converted = export("Selu", tmp_path, "selu_script", opset=opset)
    assert converted.op_counts["onnx-script::Selu"] == 1
    assert imports(converted) == {"": opset, "onnx-script": 2}


def test_manifest_overrides_versions_of_domains(tmp_path: Path) -> None:
    converted = export("Selu", tmp_path, "selu_script", customOpsets={"onnx-script": 5})
    assert imports(converted)["onnx-script"] == 5


def test_static_symbolic_method_is_used(tmp_path: Path) -> None:
    converted = export("my_relu", tmp_path)
    # Its Clip has one bound, which onnxruntime applies to infinities otherwise.
    assert converted.op_counts["Max"] == 1


def test_a_function_without_symbolic_is_inlined(tmp_path: Path) -> None:
    converted = export("AbsoluteLogExp", tmp_path)
    assert converted.op_counts["Log"] == 2


def test_a_symbolic_function_for_python_operators(tmp_path: Path) -> None:
    converted = export("my_clip", tmp_path, "python_op")
    assert converted.op_counts["Clip"] == 1


@pytest.mark.parametrize("plugin", ["foo_translation", "foo_decomposed"])
def test_a_custom_operator_through_torch_export(plugin: str, tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, plugin, rung=Rung.DYNAMO, inputs=TWO)
    assert set(converted.op_counts) <= {"Add", "Mul", "Constant"}


@pytest.mark.parametrize(
    ("factory", "plugins"), [("Elu", ["old_elu"]), ("my_relu", [])], ids=["registered", "static"]
)
def test_torchscript_route_comes_first(factory: str, plugins: list[str], tmp_path: Path) -> None:
    with pytest.raises(RouteFallback):
        export(factory, tmp_path, *plugins, rung=Rung.DYNAMO)


@ROUTES
def test_example_plugin(rung: Rung, tmp_path: Path) -> None:
    document = yaml.safe_load((EXAMPLE / "modelexport.yaml").read_text())
    text = json.dumps(document["spec"]).replace("file://./", f"file://{EXAMPLE}/")
    task = ExportTask(
        ModelExportSpec.model_validate_json(text), tmp_path / "model.pt", EXAMPLE, tmp_path, rung
    )
    sys.path.insert(0, str(EXAMPLE))
    snake = importlib.import_module("snake")
    torch.save(snake.build().state_dict(), task.checkpoint)
    converted = export_model(task, silent)
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert converted.op_counts["Sin"] == 1
    if rung is not Rung.DYNAMO:  # which writes the function's body into the graph
        assert imports(converted) == {"": 20, "example.operators": 3}
