"""A model is looked at without being exported: what stops it, where, and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Exporter
from modelexport_api.status import Support
from modelexport_exporter.batch.first_checkpoint import first_checkpoint
from modelexport_exporter.core.diagnosis import Diagnosis
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.core.pitfall import PitfallKind
from modelexport_exporter.pipeline.diagnose_run import Settings, diagnose
from modelexport_exporter.workers.diagnose import diagnose_model
from zoo.tasks import spec_for, task_for

pytestmark = pytest.mark.usefixtures("torch_workers")

ROWS: list[dict[str, Any]] = [{"name": "x", "shape": ["batch", 4]}]


WEIGHTS = {"weight": torch.ones(4)}


def looked_at(
    factory: str,
    directory: Path,
    weights: dict[str, torch.Tensor] = WEIGHTS,
    **spec: Any,  # noqa: ANN401
) -> Diagnosis:
    torch.save(weights, directory / "model.pt")
    made = spec_for(factory, **{"inputs": ROWS, **spec})
    return diagnose_model(task_for(made, directory / "model.pt", directory), lambda *_: None)


def test_operators_without_a_translation(tmp_path: Path) -> None:
    export = {"rewrites": {"disabled": ["*"]}}
    diagnosis = looked_at("awkward:Unsupported", tmp_path, export=export)
    assert diagnosis.hinders
    assert diagnosis.exit_code is ExitCode.EXPORT
    assert [route.route for route in diagnosis.routes] == [Exporter.DYNAMO, Exporter.TORCH_SCRIPT]
    for route in diagnosis.routes:
        found = {op.name: op for op in route.unsupported}
        assert set(found) == {"aten::special_i0e.default", "aten::special_ndtri.default"}
        assert all(op.source.startswith("awkward.py:") for op in found.values())
        assert all(
            op.skeleton_file in op.hint or op.support is Support.DECOMPOSABLE
            for op in found.values()
        )
        assert all("def symbolic_special_" in op.skeleton for op in found.values())


def test_a_model_that_nothing_hinders(tmp_path: Path) -> None:
    diagnosis = looked_at("awkward:TwoOutputs", tmp_path)
    assert not diagnosis.hinders
    assert diagnosis.predicted_route is Exporter.DYNAMO
    assert diagnosis.exit_code is ExitCode.DONE
    assert (diagnosis.model, diagnosis.parameters) == ("TwoOutputs", 4)
    assert diagnosis.call == "forward(Tensor)"
    assert diagnosis.inputs[0].shape == ["batch", 4]


def test_what_pytorch_computes_from_weights_hinders_nothing(tmp_path: Path) -> None:
    diagnosis = looked_at("awkward:AxesOfWeights", tmp_path)
    assert not diagnosis.hinders
    assert diagnosis.predicted_route is Exporter.DYNAMO


def test_a_branch_over_values_stops_both_routes(tmp_path: Path) -> None:
    diagnosis = looked_at("awkward:DataDependent", tmp_path)
    dynamo, script = diagnosis.routes
    assert dynamo.failure is not None
    assert dynamo.failure.reason is Reason.CAPTURE_FAILED
    assert "torch.where" in dynamo.failure.hint
    assert script.is_open
    assert diagnosis.predicted_attempt == "Script", "which keeps both sides of the branch"
    assert diagnosis.predicted_route is Exporter.TORCH_SCRIPT
    kinds = {found.kind for found in diagnosis.pitfalls}
    assert {PitfallKind.DATA_BRANCH, PitfallKind.BAKED} <= kinds


def test_numpy_on_values_stops_all_attempts(tmp_path: Path) -> None:
    diagnosis = looked_at("awkward:UsesNumpy", tmp_path, export={"exporter": "Dynamo"})
    assert diagnosis.predicted_attempt is None
    assert diagnosis.predicted_route is None
    assert diagnosis.exit_code is ExitCode.EXPORT


def test_a_model_that_remembers_its_calls_is_hindered(tmp_path: Path) -> None:
    diagnosis = looked_at("pitfalls:KeepsFirst", tmp_path, weights={})
    assert diagnosis.hinders
    assert PitfallKind.NOT_DETERMINISTIC in {found.kind for found in diagnosis.pitfalls}


def test_a_dim_that_would_specialise(tmp_path: Path) -> None:
    diagnosis = looked_at("awkward:NarrowBatch", tmp_path)
    failure = diagnosis.routes[0].failure
    assert failure is not None
    assert failure.reason is Reason.DYNAMIC_DIM_SPECIALIZED
    assert "requested 1..64, got 1..8" in failure.message
    assert "if x.shape[0] > 8" in failure.message


def test_inputs_that_the_model_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="InputsMismatch"):
        looked_at("awkward:NarrowBatch", tmp_path, inputs=[{"name": "x", "shape": ["batch", 5]}])


@pytest.mark.parametrize(
    ("factory", "timeout", "reason"),
    [
        ("exits_at_once", 120.0, Reason.FACTORY_FAILED),
        ("sleeps", 20.0, Reason.DEADLINE_EXCEEDED),
    ],
)
def test_a_factory_that_ends_or_stops_the_process(
    factory: str, timeout: float, reason: Reason, tmp_path: Path
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "rude.py").write_text(
        "import os, time\n"
        "def exits_at_once():\n    os._exit(3)\n"
        "def sleeps():\n    time.sleep(1000)\n"
    )
    torch.save({"weight": torch.ones(4)}, tmp_path / "model.pt")
    resource = ModelExport.model_validate(
        {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": "rude"},
            "spec": {
                "source": {"uri": f"file://{tmp_path}/model.pt"},
                "model": {"factory": f"rude:{factory}", "code": {"uri": f"file://{code}/"}},
                "inputs": [{"name": "x", "shape": [4]}],
                "destination": {"uri": f"file://{tmp_path}/out/"},
            },
        }
    )
    with (tmp_path / "log").open("w") as stream:
        diagnosis = diagnose(
            resource, Settings(tmp_path / "work", timeout), JsonLog(stream), first_checkpoint
        )
    assert diagnosis.failure is not None
    assert diagnosis.failure.reason is reason
    assert diagnosis.exit_code is not ExitCode.DONE
    assert not (tmp_path / "out").exists()
    assert json.loads(diagnosis.model_dump_json(by_alias=True))["failure"]["reason"] == reason
