"""Models called with inputs of many kinds, and their export and verification in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import torch

from modelexport_api.status import Stage
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
from zoo.code import kinds
from zoo.tasks import CODE, spec_for

BATCH = {"n": {"min": 1, "max": 8}}
DYNAMO, SCRIPT, TRACE = Rung.DYNAMO, Rung.SCRIPT, Rung.TRACE


def rows(name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, "shape": ["n", 4], **more}


def ids(name: str, highest: int = 15) -> dict[str, Any]:
    return {"name": name, "dtype": "int64", "shape": ["n", 5], "range": [0, highest]}


NUMBERS: list[dict[str, Any]] = [
    {"name": "times", "kind": "Int", "range": [1, 5]},
    {"name": "shift", "kind": "Float"},
    {"name": "double", "kind": "Bool"},
]


class Case(NamedTuple):
    model: str
    inputs: list[dict[str, Any]]
    rungs: tuple[Rung, ...]
    names: list[str] | None = None
    """Of the file's inputs; None: those of `inputs`."""
    example: str | None = None


def task_for(case: Case, rung: Rung, directory: Path) -> ExportTask:
    torch.manual_seed(1)
    module: torch.nn.Module = getattr(kinds, case.model)()
    torch.save(module.state_dict(), directory / "model.pt")
    spec = spec_for(f"kinds:{case.model}", inputs=case.inputs, dims=dims_of(case.inputs))
    if case.example is not None:
        assert spec.model is not None
        model = spec.model.model_copy(update={"example_inputs": f"kinds:{case.example}"})
        spec = spec.model_copy(update={"model": model})
    (directory / "artifact").mkdir()
    return ExportTask(spec, directory / "model.pt", CODE, directory / "artifact", rung=rung)


def dims_of(inputs: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    used = any("n" in entry.get("shape", []) for entry in inputs)
    return BATCH if used else {}


def export(task: ExportTask) -> tuple[ConvertedModel, VerificationOutcome]:
    converted = export_model(task, ignore)
    return converted, verify_model(task, converted, ignore)


def ignore(_stage: Stage, _fraction: float, _message: str) -> None:
    """Progress is not what is tested here."""
