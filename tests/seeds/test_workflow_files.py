"""Workflows around the written file: names, shapes, opsets, weights, reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.publish.layout import is_content
from seeds.case import Case, Feed, as_state_dict, refused, tensor
from seeds.harness import Bench, Exported, each, open_session

IMAGES = (tensor("image", "batch", 3, "height", "width"),)
FREE = {"batch": (1, 9), "height": (4, 40), "width": (4, 40)}
ROWS = (tensor("x", "batch", 6),)
FEW = {"batch": (1, 40)}
CONV = "plain_models:conv_net"
PERCEPTRON = "plain_models:perceptron"
LEARNED = [f"learned_{position}" for position in range(4)]


def graph_of(exported: Exported) -> onnx.GraphProto:
    return onnx.load(str(exported.model_path)).graph


def test_one_binary_file_with_weights_runs_in_onnxruntime(bench: Bench) -> None:
    case = Case("C1 C2 C5 C46 E13 E14", "one_file", CONV, IMAGES, FREE)
    exported = bench.check(case)

    files = {path.name for path in exported.directory.iterdir() if path.is_file()}
    files = {name for name in files if not is_content(name)}
    assert files == {
        "model.onnx",
        *("manifest.json", "provenance.json", "report.html", "report.json"),
    }
    model = onnx.load(str(exported.model_path))
    onnx.checker.check_model(model, full_check=True)
    assert "Conv" in onnx.printer.to_text(model)
    assert sum(len(item.dims) > 1 for item in model.graph.initializer) >= 2
    (scores,) = open_session(exported.model_path).run(
        None, {"image": np.random.default_rng(1).standard_normal((4, 3, 8, 8), np.float32)}
    )
    assert scores.shape == (4, 5)
    verified = exported.result.verification
    assert verified is not None
    assert verified.max_rel_error < 1e-4


def test_the_report_has_stages_attempts_and_samples(bench: Bench) -> None:
    exported = bench.check(Case("C43 C44", "report", PERCEPTRON, ROWS, FEW))

    report = json.loads((exported.directory / "report.json").read_text())
    assert {"Load", "Verify"} <= {entry["stage"] for entry in report["stages"]}
    assert report["verification"]["verdict"] == "Verified"
    assert len({tuple(sample["dims"].items()) for sample in report["samples"]}) >= 3
    assert report["operators"]["Gemm"] == 2
    assert torch.__version__.startswith(report["environment"]["versions"]["torch"])


def test_names_for_inputs_outputs_and_parameters(bench: Bench) -> None:
    case = Case(
        "C6 E1",
        "names",
        PERCEPTRON,
        (tensor("actual_input_1", "batch", 6),),
        FEW,
        outputs=("output1",),
        export={"parameterNames": LEARNED},
    )
    graph = graph_of(bench.check(case))
    assert [entry.name for entry in graph.input] == ["actual_input_1"]
    assert [entry.name for entry in graph.output] == ["output1"]
    assert {entry.name for entry in graph.initializer} >= set(LEARNED)


def test_names_for_some_parameters(bench: Bench) -> None:
    export = {"parameterNames": ["learned_0"]}
    graph = graph_of(bench.check(Case("C6", "some_names", PERCEPTRON, ROWS, FEW, export=export)))
    names = {entry.name for entry in graph.initializer}
    assert "learned_0" in names
    assert {"first.bias", "second.weight", "second.bias"} <= names


def dims_of(entry: onnx.ValueInfoProto) -> list[int | str]:
    return [dim.dim_param or dim.dim_value for dim in entry.type.tensor_type.shape.dim]


@pytest.mark.parametrize("exporter", ["Dynamo", "TorchScript"])
def test_named_dims_are_in_the_file(bench: Bench, exporter: str) -> None:
    case = Case(
        "C7 E1",
        f"dynamic_axes_{exporter}",
        "plain_models:Sum",
        (tensor("x", "my_custom_axis_name", "columns"),),
        {"my_custom_axis_name": (1, 50), "columns": (1, 50)},
        outputs=("sum",),
        export={"exporter": exporter},
    )
    graph = graph_of(bench.check(case))
    assert dims_of(graph.input[0]) == ["my_custom_axis_name", "columns"]
    if exporter == "Dynamo":
        assert dims_of(graph.output[0]) == ["my_custom_axis_name"]


def test_fixed_shapes_without_dims(bench: Bench) -> None:
    exported = bench.check(
        Case("C8", "static", "plain_models:Sum", (tensor("x", 2, 3),), outputs=("sum",))
    )
    assert dims_of(graph_of(exported).input[0]) == [2, 3]
    assert dims_of(graph_of(exported).output[0]) == [2]


OLD = dict.fromkeys(range(7, 18), "TorchScript")
OPSETS = tuple(
    Case(
        "C36 E1",
        f"opset_{opset}",
        PERCEPTRON,
        ROWS,
        FEW,
        export={"opset": opset},
        nightly=opset not in {7, 11, 13, 18, 25},
    )
    for opset in range(7, 26)
)


@pytest.mark.parametrize("case", each(OPSETS))
def test_the_opset_that_was_asked_for(case: Case, bench: Bench) -> None:
    exported = bench.check(case)
    (opset,) = onnx.load(str(exported.model_path)).opset_import
    assert opset.version == case.export["opset"]


def test_a_sequence_needs_opset_11(bench: Bench) -> None:
    """An operator that came later is refused below, by name."""
    case = Case(
        "C36",
        "opset_too_old",
        "custom_models:activation",
        ROWS,
        FEW,
        {"name": "mish"},
        export={"opset": 7, "exporter": "TorchScript"},
        or_refused=refused(Reason.UNSUPPORTED_OPERATOR, words=("opset",)),
    )
    bench.check(case)


@pytest.mark.parametrize("exporter", ["Dynamo", "TorchScript"])
def test_weights_that_a_consumer_may_override(bench: Bench, exporter: str) -> None:
    export = {"weights": "AsInputs", "exporter": exporter}
    case = Case("C37 E1", f"weights_as_inputs_{exporter}", PERCEPTRON, ROWS, FEW, export=export)
    exported = bench.check(case)

    graph = graph_of(exported)
    weights = {entry.name for entry in graph.initializer}
    assert weights <= {entry.name for entry in graph.input}
    assert set(exported.module.state_dict()) <= weights
    x = np.ones((2, 6), np.float32)
    bias = np.array([9.0, 0.0, 0.0], np.float32)
    (scores,) = open_session(exported.model_path).run(None, {"x": x, "second.bias": bias})
    assert (scores.argmax(1) == 0).all()


class WithWeights:
    """A session of a file without weights, given them at each run."""

    def __init__(self, path: Path, weights: Feed) -> None:
        self._session = open_session(path)
        self._weights = dict(weights)
        self.get_inputs = self._session.get_inputs
        self.get_outputs = self._session.get_outputs

    def run(self, outputs: None, feed: Feed) -> Any:  # noqa: ANN401
        return self._session.run(outputs, {**self._weights, **feed})


@pytest.mark.parametrize("exporter", ["Dynamo", "TorchScript"])
def test_a_file_without_weights(bench: Bench, exporter: str) -> None:
    weights: dict[str, Any] = {}

    def keep_weights(module: torch.nn.Module, directory: Path) -> Path:
        weights.update({name: value.numpy() for name, value in module.state_dict().items()})
        return as_state_dict(module, directory)

    case = Case(
        "C37 E1",
        f"without_weights_{exporter}",
        PERCEPTRON,
        ROWS,
        FEW,
        export={"weights": "Omitted", "exporter": exporter},
        checkpoint=keep_weights,
    )
    exported = bench.check(case, lambda path: WithWeights(path, weights))
    assert not [
        entry for entry in graph_of(exported).initializer if entry.dims and len(entry.dims) > 1
    ]


@pytest.mark.parametrize("exporter", ["Dynamo", "TorchScript"])
@pytest.mark.parametrize("optimize", [True, False])
def test_with_and_without_the_optimizer(bench: Bench, exporter: str, optimize: bool) -> None:
    export = {"exporter": exporter, "optimize": optimize}
    name = f"optimize_{optimize}_{exporter}".lower()
    images = (tensor("image", "batch", 3, 8, 8),)
    bench.check(Case("E1", name, CONV, images, {"batch": (1, 9)}, export=export))


def test_module_names_stay_with_the_nodes(bench: Bench) -> None:
    """Exporting modules as functions was removed; nodes still say which module they are of."""
    exported = bench.check(
        Case("C45", "module_names", PERCEPTRON, ROWS, FEW, export={"exporter": "Dynamo"})
    )
    text = onnx.printer.to_text(onnx.load(str(exported.model_path)))
    assert "first" in text
    assert "second" in text


def test_a_sensitive_model_is_judged_by_its_numbers(bench: Bench) -> None:
    case = Case("C46", "sensitive", "plain_models:Sensitive", ROWS, FEW, rtol=1e-3)
    verified = bench.check(case).result.verification
    assert verified is not None
    assert 0 < verified.max_rel_error < 1e-3
