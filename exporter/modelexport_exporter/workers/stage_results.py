"""How long the stages of a worker took, and what they found, in a few words for a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ContractFinding, ReportProgress, StageResult
from modelexport_exporter.onnx_file.read_back import ArtifactFacts


def describe_contract(facts: ArtifactFacts, findings: Sequence[ContractFinding]) -> str:
    """Return `2 inputs, 1 output as declared`, or how many differ."""
    counts = {"input": len(facts.inputs), "output": len(facts.outputs)}
    named = ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items())
    if not findings:
        return f"{named} as declared"
    return f"{named}, {len(findings)} {'differs' if len(findings) == 1 else 'differ'}"


def parameters_of(module: torch.nn.Module) -> str:
    """Return `42.1 M parameters`."""
    count = sum(parameter.numel() for parameter in module.parameters())
    for unit, size in (("G", 1_000_000_000), ("M", 1_000_000)):
        if count >= size:
            return f"{count / size:.1f} {unit} parameters"
    return f"{count:,} parameters"


class StageClock:
    """Measures the stages, and sets the stage of a failure."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def report(self, stage: Stage, result: str, progress: ReportProgress) -> None:
        """Report what a stage found, with the time that it took."""
        progress(stage, 1.0, StageResult(result, self.seconds.get(stage.value, 0.0)))

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Time the block; a failure inside it belongs to the stage."""
        begin = time.monotonic()
        try:
            yield
        except ExportFailure as failure:
            failure.stage = failure.stage or stage
            raise
        finally:
            self.seconds[stage.value] = round(time.monotonic() - begin, 3)
