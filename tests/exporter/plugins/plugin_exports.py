"""Exports with plugins through all real workers, in this process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from modelexport_api.status import Verdict
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, Rung
from modelexport_exporter.pipeline.verifier import needs_runtime
from modelexport_exporter.workers.export import export_model
from roles import judged
from zoo.tasks import spec_for, task_for

CODE = Path(__file__).parent / "plugins_code"
EXAMPLE = Path(__file__).parents[3] / "examples" / "plugin"
ONE = [{"name": "x", "shape": ["batch", 6]}]
TWO = [{"name": "input1", "shape": ["batch", 6]}, {"name": "input2", "shape": ["batch", 6]}]
DIMS = {"batch": {"min": 1, "max": 32}}
OPERATOR_MODULES = frozenset({"foo_op", "neg_pos_op", "snake"})
"""Operators are registered once in a process, so that their modules stay."""
ROUTES = pytest.mark.parametrize("rung", [Rung.DYNAMO, Rung.SCRIPT, Rung.TRACE])


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
    outcome = judged(task, converted)
    assert isinstance(outcome, VerificationOutcome), outcome
    assert outcome.summary.verdict is Verdict.VERIFIED, outcome.first_problem
    assert outcome.summary.user_code_in_runtime is needs_runtime(spec)
    return converted


def imports(converted: ConvertedModel) -> dict[str, int]:
    model = onnx.load(converted.model_path)
    return {entry.domain: entry.version for entry in model.opset_import}
