"""Plugins through both real workers, in this process: what documents show, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict
from modelexport_exporter.export_worker import export_model
from modelexport_exporter.failure import ExportFailure, RouteDeferred
from modelexport_exporter.load import silent
from modelexport_exporter.plugins.symbolics import SymbolicWatch
from modelexport_exporter.values import ConvertedModel, Rung
from modelexport_exporter.verify_worker import verify_model
from zoo.tasks import spec_for, task_for

CODE = Path(__file__).parent / "plugins_code"
ONE = [{"name": "x", "shape": ["batch", 6]}]
TWO = [{"name": "input1", "shape": ["batch", 6]}, {"name": "input2", "shape": ["batch", 6]}]
DIMS = {"batch": {"min": 1, "max": 32}}


@pytest.fixture(autouse=True)
def _forget_plugins() -> Iterator[None]:
    """Undo what the plugins did to this process: an export has processes of its own."""
    watch = SymbolicWatch()
    modules = set(sys.modules)
    yield
    for name, opset in watch.changes():
        torch.onnx.unregister_custom_op_symbolic(name, opset)
    for _, before, module in watch._modules:
        for name in [name for name in vars(module) if name not in before]:
            delattr(module, name)
        vars(module).update(before)
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(CODE)):
            del sys.modules[name]


def export(
    factory: str,
    tmp_path: Path,
    *plugins: str,
    rung: Rung = Rung.TRACE,
    inputs: list[dict[str, Any]] | None = None,
    **options: Any,
) -> ConvertedModel:
    """Export and verify; the model has no weights."""
    checkpoint = tmp_path / "model.pt"
    torch.save({}, checkpoint)
    spec = spec_for(
        f"models:{factory}",
        inputs=inputs or ONE,
        dims=DIMS,
        export={"plugins": list(plugins), **options},
    )
    task = replace(task_for(spec, checkpoint, tmp_path, rung), code_dir=CODE)
    converted = export_model(task, silent)
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED, outcome.first_problem
    return converted


def imports(converted: ConvertedModel) -> dict[str, int]:
    model = onnx.load(converted.model_path)
    return {entry.domain: entry.version for entry in model.opset_import}


@pytest.mark.parametrize("plugin", ["old_elu", "elu_2_7", "registry_elu"])
@pytest.mark.parametrize("opset", [13, 20])
def test_elu_of_every_year(plugin: str, opset: int, tmp_path: Path) -> None:
    converted = export("Elu", tmp_path, plugin, opset=opset)
    assert converted.op_counts["Elu"] == 1
    assert ("Identity" in converted.op_counts) == (plugin == "registry_elu")


@pytest.mark.parametrize("opset", [15, 20])
def test_an_onnxscript_function_as_an_operator(opset: int, tmp_path: Path) -> None:
    converted = export("Selu", tmp_path, "selu_script", opset=opset)
    assert converted.op_counts["onnx-script::Selu"] == 1
    assert imports(converted) == {"": opset, "onnx-script": 2}


def test_the_manifest_has_the_last_word_on_versions(tmp_path: Path) -> None:
    converted = export("Selu", tmp_path, "selu_script", customOpsets={"onnx-script": 5})
    assert imports(converted)["onnx-script"] == 5


def test_a_static_symbolic_method(tmp_path: Path) -> None:
    converted = export("my_relu", tmp_path)
    assert converted.op_counts["Clip"] == 1


def test_a_function_without_symbolic_is_inlined(tmp_path: Path) -> None:
    converted = export("AbsoluteLogExp", tmp_path)
    assert converted.op_counts["Log"] == 2


def test_a_symbolic_function_for_python_operators(tmp_path: Path) -> None:
    converted = export("my_clip", tmp_path, "python_op")
    assert converted.op_counts == {"Clip": 1, "Constant": 2} or converted.op_counts["Clip"] == 1


def test_an_operator_that_the_runtime_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure) as failed:
        export("FooModel", tmp_path, "foo_symbolic", inputs=TWO)
    assert failed.value.reason is Reason.RUNTIME_FAILED
    assert "custom_domain::Foo" in failed.value.message
    assert "onnx_functions" in failed.value.hint
    assert "runtimeLibraries" in failed.value.hint


def test_a_function_proto_makes_it_known(tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, "foo_symbolic", "foo_function", inputs=TWO)
    assert converted.op_counts["custom_domain::Foo"] == 1
    assert imports(converted)["custom_domain"] == 2


def test_a_plugin_brings_a_python_operator_to_the_runtime(tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, "foo_runtime", inputs=TWO)
    assert converted.op_counts["ai.onnx.contrib::FooInPython"] == 1


@pytest.mark.parametrize("plugin", ["foo_translation", "foo_decomposed"])
def test_a_custom_operator_through_torch_export(plugin: str, tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, plugin, rung=Rung.DYNAMO, inputs=TWO)
    assert set(converted.op_counts) <= {"Add", "Mul", "Constant"}


@pytest.mark.parametrize(
    ("factory", "plugins"), [("Elu", ["old_elu"]), ("my_relu", [])], ids=["registered", "static"]
)
def test_the_torchscript_route_comes_first(
    factory: str, plugins: list[str], tmp_path: Path
) -> None:
    with pytest.raises(RouteDeferred):
        export(factory, tmp_path, *plugins, rung=Rung.DYNAMO)
