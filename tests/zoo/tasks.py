"""Export tasks for tests: a spec with the fields that matter, checkpoint and code on this disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.core.types import ExportTask, Rung
from modelexport_exporter.pipeline.ladder import next_step

CODE = Path(__file__).parent / "code"

PIXELS = [{"name": "image", "shape": ["batch", 1, 8, 8]}]
BATCH = {"batch": {"min": 1, "max": 64}}


def spec_for(
    factory: str | None = None,
    *,
    inputs: list[dict[str, Any]] | None = None,
    dims: dict[str, dict[str, int]] | None = None,
    kwargs: dict[str, Any] | None = None,
    source: dict[str, Any] | None = None,
    export: dict[str, Any] | None = None,
    outputs: list[str] | None = None,
) -> ModelExportSpec:
    """Return a spec; without inputs and dims it is one batch of 8x8 images."""
    document: dict[str, Any] = {
        "source": {"uri": "file:///checkpoint", **(source or {})},
        "inputs": inputs or PIXELS,
        "dims": dims if dims is not None else BATCH,
        "outputs": outputs or [],
        "export": export or {},
        "destination": {"uri": "file:///artifacts/"},
    }
    if factory is not None:
        document["model"] = {"factory": factory, "kwargs": kwargs or {}}
    return ModelExportSpec.model_validate(document)


def task_for(
    spec: ModelExportSpec, checkpoint: Path, directory: Path, rung: Rung | None = None
) -> ExportTask:
    """Return the task that writes below the directory."""
    output = directory / "artifact"
    output.mkdir(exist_ok=True)
    return ExportTask(
        spec=spec,
        checkpoint=checkpoint,
        code_dir=CODE,
        output_dir=output,
        rung=rung or first_rung(spec, checkpoint),
    )


def first_rung(spec: ModelExportSpec, checkpoint: Path) -> Rung:
    """Return where the ladder begins for this checkpoint."""
    step = next_step(spec, detect(checkpoint, spec.source.format).format, ())
    assert step is not None
    return step.rung
