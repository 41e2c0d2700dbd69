"""A random model through the product's own pipeline, into a directory, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import torch

from fuzz.case import FuzzCase
from fuzz.judge import judge
from modelexport_api.resource import ModelExport
from modelexport_api.status import Progress
from modelexport_exporter.core.log import Level
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run


class Outcome(StrEnum):
    """How a case ends."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Result:
    """How a seed ended."""

    seed: int
    outcome: Outcome
    by: str
    """The route that was published, or the reason of the refusal."""
    text: str
    """What differs, or what the refusal says."""
    seconds: float


@dataclass
class Lines:
    """A log that keeps its messages."""

    lines: list[str] = field(default_factory=list)

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        self.lines.append(f"{level}: {message} {fields or ''}")

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Forget it."""


def check(case: FuzzCase, directory: Path) -> Result:
    """Export the case, and judge what was published."""
    code, destination = directory / "code", directory / "artifact"
    code.mkdir(parents=True)
    module = case.module(code / "model.py")
    torch.save(module.state_dict(), directory / "model.pt")
    begin = time.monotonic()
    resource = ModelExport.model_validate(manifest(case, directory, destination))
    result = run(resource, Settings(directory / "work"), Lines())
    seconds = round(time.monotonic() - begin, 2)
    if result.failure is not None:
        failure = result.failure
        text = f"{failure.stage}: {failure.message} {failure.hint}"
        return Result(case.seed, Outcome.REFUSED, failure.reason.value, text[:600], seconds)
    assert result.artifact is not None
    found = judge(case, module, destination / "model.onnx")
    outcome = Outcome.WRONG if found else Outcome.RIGHT
    text = found.text if found else ""
    return Result(case.seed, outcome, result.artifact.exporter, text, seconds)


def manifest(case: FuzzCase, directory: Path, destination: Path) -> Mapping[str, Any]:
    """Return the resource as a user would write it."""
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": f"fuzz-{case.seed}"},
        "spec": {
            "source": {"uri": f"file://{directory / 'model.pt'}"},
            "model": {"factory": "model:build", "code": {"uri": f"file://{directory / 'code'}/"}},
            "inputs": [dict(entry) for entry in case.inputs],
            "dims": {name: {"min": low, "max": high} for name, (low, high) in case.dims.items()},
            "verification": {"provider": "CPU", "benchmark": False},
            "destination": {"uri": f"file://{destination}/"},
        },
    }
