"""The names that were asked for, whatever the exporter calls the values inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from modelexport_exporter.checkpoint.load import load_module, silent
from modelexport_exporter.workers.export import export_model
from zoo.tasks import BATCH, spec_for, task_for

ROUTES = ["Dynamo", "TorchScript"]


def run_file(path: Path, x: torch.Tensor) -> dict[str, np.ndarray[Any, Any]]:
    """Return the outputs by name; onnxruntime refuses a name that two values have."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert len(set(names)) == len(names)
    (wanted,) = [entry.name for entry in session.get_inputs()]
    return dict(zip(names, session.run(names, {wanted: x.numpy()}), strict=True))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("model", "given", "outputs"),
    [
        ("Steps", "x", ["relu"]),
        ("Steps", "x", ["mul"]),
        ("Steps", "x", ["val_0"]),
        ("Steps", "x", ["weight"]),
        ("Steps", "relu", ["mean"]),
        ("Steps", "add", ["y"]),
        ("Steps", "weight", []),
        ("Twice", "x", []),
        ("Twice", "x", ["one", "two", "input", "same_input", "weight"]),
    ],
)
def test_a_name_that_an_inner_value_has(
    model: str, given: str, outputs: list[str], route: str, tmp_path: Path
) -> None:
    torch.save({"weight": torch.arange(4.0)}, tmp_path / "model.pt")
    spec = spec_for(
        f"naming:{model}",
        inputs=[{"name": given, "shape": ["batch", 4]}],
        dims=BATCH,
        export={"exporter": route},
        outputs=outputs,
    )
    task = task_for(spec, tmp_path / "model.pt", tmp_path)
    converted = export_model(task, silent)
    assert [entry.name for entry in converted.inputs] == [given]
    if outputs:
        assert [entry.name for entry in converted.outputs] == outputs

    x = torch.randn(5, 4)
    expected = load_module(task).module(x)
    found = run_file(converted.model_path, x)
    for name, want in zip(
        found, expected if isinstance(expected, tuple) else (expected,), strict=True
    ):
        np.testing.assert_allclose(found[name], want, atol=1e-6)


def test_a_name_inside_a_branch(tmp_path: Path) -> None:
    torch.save({"weight": torch.arange(4.0)}, tmp_path / "model.pt")
    inputs = [{"name": "relu", "shape": ["batch", 4]}]
    spec = spec_for("naming:Branches", inputs=inputs, dims=BATCH, outputs=["sigmoid"])
    task = task_for(spec, tmp_path / "model.pt", tmp_path)
    converted = export_model(task, silent)
    for x in (torch.ones(5, 4), -torch.ones(5, 4)):
        found = run_file(converted.model_path, x)
        np.testing.assert_allclose(found["sigmoid"], load_module(task).module(x), atol=1e-6)
