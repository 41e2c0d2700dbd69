"""Plugins through both real workers, in this process: what documents show, and what is refused."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
import yaml
from torch.onnx._internal.torchscript_exporter import registration

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Verdict
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.errors import ExportFailure, RouteFallback
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung
from modelexport_exporter.plugins.plugins import load_plugins
from modelexport_exporter.plugins.symbolics import SymbolicWatch
from modelexport_exporter.torch_internals.symbolics import custom_symbolics
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
from zoo.tasks import spec_for, task_for

CODE = Path(__file__).parent / "plugins_code"
EXAMPLE = Path(__file__).parents[3] / "examples" / "plugin"
ONE = [{"name": "x", "shape": ["batch", 6]}]
TWO = [{"name": "input1", "shape": ["batch", 6]}, {"name": "input2", "shape": ["batch", 6]}]
DIMS = {"batch": {"min": 1, "max": 32}}


@pytest.fixture(autouse=True)
def _forget_plugins() -> Iterator[None]:
    """Undo what the plugins did to this process: an export has processes of its own."""
    watch = SymbolicWatch()
    modules = set(sys.modules)
    yield
    for name, opset in set(custom_symbolics()) & set(watch.changes()):
        registration.registry.unregister(name, opset)
    for _, before, module in watch._modules:
        for name in [name for name in vars(module) if name not in before]:
            delattr(module, name)
        vars(module).update(before)
    for name in set(sys.modules) - modules:
        path = Path(str(getattr(sys.modules[name], "__file__", "")))
        # Operators are registered once in a process, so that their modules stay.
        if path.parent in {CODE, EXAMPLE} and path.stem not in {"foo_op", "neg_pos_op", "snake"}:
            del sys.modules[name]


def export(
    factory: str,
    tmp_path: Path,
    *plugins: str,
    rung: Rung = Rung.TRACE,
    inputs: list[dict[str, Any]] | None = None,
    libraries: tuple[Path, ...] = (),
    **options: Any,  # noqa: ANN401
) -> ConvertedModel:
    """Export and verify; the model has no weights."""
    checkpoint = tmp_path / "model.pt"
    torch.save({}, checkpoint)
    spec = spec_for(
        f"translated_models:{factory}",
        inputs=inputs or ONE,
        dims=DIMS,
        export={"plugins": list(plugins), **options},
    )
    task = task_for(spec, checkpoint, tmp_path, rung)
    task = replace(task, code_dir=CODE, runtime_libraries=libraries)
    converted = export_model(task, silent)
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED, outcome.first_problem
    return converted


def imports(converted: ConvertedModel) -> dict[str, int]:
    model = onnx.load(converted.model_path)
    return {entry.domain: entry.version for entry in model.opset_import}


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
    assert converted.op_counts["Clip"] == 1


def test_a_function_without_symbolic_is_inlined(tmp_path: Path) -> None:
    converted = export("AbsoluteLogExp", tmp_path)
    assert converted.op_counts["Log"] == 2


def test_a_symbolic_function_for_python_operators(tmp_path: Path) -> None:
    converted = export("my_clip", tmp_path, "python_op")
    assert converted.op_counts["Clip"] == 1


def test_operator_that_the_runtime_does_not_know_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure) as failed:
        export("FooModel", tmp_path, "foo_symbolic", inputs=TWO)
    assert failed.value.reason is Reason.RUNTIME_FAILED
    assert "custom_domain::Foo" in failed.value.message
    assert "onnx_functions" in failed.value.hint
    assert "runtimeLibraries" in failed.value.hint


def test_function_proto_makes_operator_known(tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, "foo_symbolic", "foo_function", inputs=TWO)
    assert converted.op_counts["custom_domain::Foo"] == 1
    assert imports(converted)["custom_domain"] == 2


def test_plugin_registers_a_python_operator(tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, "foo_runtime", inputs=TWO)
    assert converted.op_counts["ai.onnx.contrib::FooInPython"] == 1


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


def fall_through(
    factory: str,
    tmp_path: Path,
    *plugins: str,
    **options: Any,  # noqa: ANN401
) -> ConvertedModel:
    options.setdefault("rewrites", {"disabled": ["*"]})
    return export(factory, tmp_path, *plugins, unsupportedOps="FallThrough", **options)


ROUTES = pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.SCRIPT, Rung.TRACE])


@ROUTES
def test_operators_of_aten_fall_through(rung: Rung, tmp_path: Path) -> None:
    converted = fall_through("Erfinv", tmp_path, rung=rung)
    assert converted.op_counts == {"aten::kthvalue": 1, "aten::special_i1e": 1}
    assert imports(converted)["aten"] == 1
    found = {finding.subject: finding.obtained for finding in converted.findings}
    assert "the consumer's runtime must bring it" in found["operator aten::kthvalue"]
    assert sorted(path.name for path in tmp_path.glob("artifact/*")) == ["model.onnx"]


@ROUTES
def test_lists_and_half_precision_fall_through(rung: Rung, tmp_path: Path) -> None:
    converted = fall_through("Unusual", tmp_path, rung=rung)
    fallen = {name for name in converted.op_counts if name.startswith("aten::")}
    assert fallen >= {"aten::special_i0e"}
    assert rung is Rung.DYNAMO or "aten::block_diag" in fallen


@ROUTES
def test_a_custom_operator_falls_through(rung: Rung, tmp_path: Path) -> None:
    converted = fall_through("Misses", tmp_path, "foo_op", rung=rung, inputs=TWO)
    assert converted.op_counts["custom_ops::foo_forward"] == 1
    node = next(
        node for node in onnx.load(converted.model_path).graph.node if node.op_type == "foo_forward"
    )
    assert {entry.name for entry in node.attribute} == {"attr1", "attr2"}


def test_an_unregistered_custom_operator_is_named(tmp_path: Path) -> None:
    for rung in (Rung.DYNAMO, Rung.TRACE):
        with pytest.raises(ExportFailure) as failed:
            export("FooModel", tmp_path, "foo_op", rung=rung, inputs=TWO)
        assert failed.value.reason is Reason.UNSUPPORTED_OPERATOR
        assert "custom_ops::foo_forward" in failed.value.message


def test_library_of_runtime_operators_is_loaded(tmp_path: Path) -> None:
    import onnxruntime_extensions

    library = Path(onnxruntime_extensions.get_library_path())
    converted = export("Negative", tmp_path, "neg_pos", libraries=(library,))
    assert converted.op_counts["ai.onnx.contrib::NegPos"] == 1


def test_library_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    library = tmp_path / "libfoo.so"
    library.write_bytes(b"not a library")
    with pytest.raises(ExportFailure) as failed:
        export("Negative", tmp_path, "neg_pos", libraries=(library,))
    assert failed.value.reason is Reason.RUNTIME_FAILED
    assert "libfoo.so" in failed.value.message


BAD = {
    "syntax": ("def f(:\n    pass\n", "bad_plugin.py:1"),
    "raises": ("x = 1\nraise ValueError('no GPU')\n", "ValueError: no GPU (bad_plugin.py:2"),
    "exits": ("import sys\nsys.exit(3)\n", "exits the process (code 3)"),
    "needs": ("import nowhere_to_be_found\n", "needs the module nowhere_to_be_found"),
    "table": ("custom_translation_table = [1]\n", "expected a dict"),
    "key": ("custom_translation_table = {1: print}\n", "an operator such as"),
    "packet": (
        "import torch\ncustom_translation_table = {torch.ops.aten.add_: print}\n",
        "one overload of it",
    ),
    "unknown": ("decompositions = {'aten::nothing': print}\n", "torch has no such operator"),
    "opset": ("custom_opsets = {'a': '1'}\n", "expected a positive int"),
    "functions": ("onnx_functions = [print]\n", "onnx.FunctionProto"),
    "session": ("configure_session = 3\n", "a function that takes the options"),
}


@pytest.mark.parametrize(("source", "expected"), BAD.values(), ids=BAD)
def test_bad_plugin_fails_with_its_reason(
    source: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "bad_plugin.py").write_text(source)
    failed = refused(tmp_path / "code", "bad_plugin", monkeypatch=monkeypatch)
    assert failed.reason is Reason.CODE_INVALID
    assert expected in failed.message


def test_missing_plugin_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_ops.py").touch()
    failed = refused(tmp_path, "my_op", monkeypatch=monkeypatch)
    assert "there is no module my_op" in failed.message
    assert "Did you mean my_ops?" in failed.hint


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        (["foo_translation", "again"], "both define custom_ops.foo_forward.default"),
        (["old_elu", "elu_2_7"], "both register a symbolic function of aten::elu (opset 9)"),
    ],
    ids=["translations", "symbolics"],
)
def test_clash_of_plugins_is_named(
    plugins: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in CODE.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "again.py").write_text("from foo_translation import custom_translation_table\n")
    failed = refused(tmp_path, *plugins, monkeypatch=monkeypatch)
    assert failed.reason is Reason.CODE_INVALID
    assert expected in failed.message
    assert all(plugin in failed.message for plugin in plugins)


def refused(code: Path, *plugins: str, monkeypatch: pytest.MonkeyPatch) -> ExportFailure:
    """Load plugins from a directory of their own, and return the failure."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = spec_for("translated_models:Elu", export={"plugins": list(plugins)})
    task = ExportTask(spec, code / "model.pt", code, code)
    with pytest.raises(ExportFailure) as failed:
        load_plugins(task, silent)
    for name in ("bad_plugin", "again", *(path.stem for path in code.glob("*.py"))):
        sys.modules.pop(name, None)
    return failed.value


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


CPP = """
#include <ATen/ATen.h>
#include <torch/library.h>
at::Tensor foo_forward(const at::Tensor& a, const at::Tensor& b, double attr1, int64_t attr2) {
  return a * attr1 + b * attr2;
}
TORCH_LIBRARY(custom_ops, m) {
  m.def("foo_forward(Tensor input1, Tensor input2, float attr1, int attr2) -> Tensor");
  m.impl("foo_forward", c10::DispatchKey::CompositeExplicitAutograd, &foo_forward);
}
"""


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler (apt install g++)")
def test_operator_in_cpp(tmp_path: Path) -> None:
    """The schema and the operator come from C++, the rest of the plugin as documented."""
    code = tmp_path / "code"
    code.mkdir()
    for path in CODE.glob("*.py"):
        (code / path.name).write_text(path.read_text())
    (code / "foo.cpp").write_text(CPP)
    (code / "foo_op.py").write_text(
        "from pathlib import Path\nimport torch\n"
        'torch.ops.load_library(Path(__file__).with_name("libfoo.so"))\n'
    )
    root = Path(torch.__file__).parent
    places = [f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}"]
    libraries = [f"-L{root / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    options = ["-O0", "-shared", "-fPIC", "-std=c++20", f"-Wl,-rpath,{root / 'lib'}"]
    command = ["g++", *options, *places, "foo.cpp", "-o", "libfoo.so", *libraries]
    subprocess.run(command, cwd=code, check=True)
    script = (
        "import sys; sys.path[:0] = {paths!r}; from pathlib import Path; import test_plugins as t; "
        "t.CODE = Path({code!r}); t.export('FooModel', Path({out!r}), 'foo_symbolic', "
        "'foo_function', inputs=t.TWO)"
    )
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    # A process of its own: the operator is registered in this one already.
    subprocess.run(
        [sys.executable, "-c", script.format(paths=paths, code=str(code), out=str(tmp_path))],
        check=True,
    )
