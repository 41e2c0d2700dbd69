"""Names of parameters, weights as inputs, and a graph without weights: exported and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage, Verdict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, Rung
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
from zoo.code.vision.digits import Digits
from zoo.tasks import spec_for, task_for


def ignore(_stage: Stage, _fraction: float, _message: str) -> None:
    """Progress is not what is tested here."""


def exported(tmp_path: Path, rung: Rung, **export: Any) -> ConvertedModel:  # noqa: ANN401
    torch.manual_seed(0)
    path = tmp_path / "checkpoint.pt"
    torch.save(Digits().state_dict(), path)
    task = task_for(spec_for("vision.digits:build", export=export), path, tmp_path, rung)
    converted = export_model(task, ignore)
    outcome = verify_model(task, converted, ignore)
    assert outcome.summary.verdict is Verdict.VERIFIED
    return converted


def input_names(converted: ConvertedModel) -> list[str]:
    return [entry.name for entry in onnx.load(converted.model_path).graph.input]


KEYS = [name for name, _ in Digits().named_parameters()]


@pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.TRACE])
def test_parameters_get_their_names(tmp_path: Path, rung: Rung) -> None:
    names = ["learned_0", "learned_1"]
    converted = exported(tmp_path, rung, parameterNames=names, optimize=False)
    held = {tensor.name for tensor in onnx.load(converted.model_path).graph.initializer}
    told = {finding.requested for finding in converted.findings}
    assert set(names) <= held | told
    if rung is Rung.DYNAMO:  # the other route fuses BatchNorm into the first layer
        assert set(names) <= held


@pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.TRACE])
def test_weights_are_inputs_with_a_default(tmp_path: Path, rung: Rung) -> None:
    converted = exported(tmp_path, rung, weights="AsInputs")
    assert set(KEYS) <= set(input_names(converted))
    assert [entry.name for entry in converted.inputs] == ["image"]


@pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.TRACE])
def test_the_graph_alone_computes_the_same_with_the_checkpoint(tmp_path: Path, rung: Rung) -> None:
    converted = exported(tmp_path, rung, weights="Omitted")
    held = {tensor.name for tensor in onnx.load(converted.model_path).graph.initializer}
    assert not held & set(KEYS)
    assert set(converted.weight_inputs.values()) >= set(KEYS)
    assert set(input_names(converted)) >= {"image", *KEYS}


def test_more_names_than_parameters(tmp_path: Path) -> None:
    names = [f"learned_{i}" for i in range(100)]
    with pytest.raises(ExportFailure, match="names, the module") as caught:
        exported(tmp_path, Rung.DYNAMO, parameterNames=names)
    assert caught.value.reason is Reason.CONTRACT_VIOLATED


def test_a_name_that_is_taken(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="already the name"):
        exported(tmp_path, Rung.DYNAMO, parameterNames=["image"])
