"""config.pbtxt of really exported models: Triton would load each, and batch only where it may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnxruntime
import pytest
import torch

from modelexport_api.spec import Layout
from modelexport_api.status import Stage, Verdict
from modelexport_exporter.core.types import Rung
from modelexport_exporter.report.triton_config import config_of
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
from triton_rules import parsed, refusals
from zoo.code import served
from zoo.tasks import spec_for, task_for

ROWS = [{"name": "x", "shape": ["n", 4]}]
N = {"n": {"min": 1, "max": 16}}


CASES = [
    pytest.param(served.Classifier, Rung.DYNAMO, 16, id="rows by torch.export"),
    pytest.param(served.Classifier, Rung.TRACE, 16, id="rows by TorchScript"),
    pytest.param(served.InTime, Rung.DYNAMO, 0, id="a recurrence in time"),
    pytest.param(served.Total, Rung.DYNAMO, 0, id="scalars"),
    pytest.param(served.Rows, Rung.TRACE, 0, id="an unknown number of rows"),
]


def ignore(_stage: Stage, _fraction: float, _message: str) -> None:
    """Progress is not what is tested here."""


@pytest.mark.parametrize(("network", "rung", "batch"), CASES)
def test_triton_would_load_it(network: Any, rung: Rung, batch: int, tmp_path: Path) -> None:  # noqa: ANN401
    torch.manual_seed(0)
    torch.save(network().state_dict(), tmp_path / "model.pt")
    spec = spec_for(f"served:{network.__name__}", inputs=ROWS, dims=N)
    destination = spec.destination.model_copy(
        update={"uri": "file:///repository/served/", "layout": Layout.TRITON}
    )
    spec = spec.model_copy(update={"destination": destination})
    task = task_for(spec, tmp_path / "model.pt", tmp_path, rung)
    converted = export_model(task, ignore)
    outcome = verify_model(task, converted, ignore)
    assert outcome.summary.verdict is Verdict.VERIFIED

    config = parsed(config_of(spec, converted, outcome).decode())
    session = onnxruntime.InferenceSession(
        str(converted.model_path), providers=["CPUExecutionProvider"]
    )
    assert refusals(config, session) == []
    assert config.max_batch_size == batch
    assert config.name == "served"
