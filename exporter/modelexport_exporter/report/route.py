"""How the file was made: the rungs that were tried, and where the time went. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from modelexport_exporter.core.types import Rung
from modelexport_exporter.report import text
from modelexport_exporter.report.plots import share_of_largest
from modelexport_exporter.report.report import Report, TriedRung

_MEANINGS = {
    Rung.DYNAMO: "torch.export",
    Rung.DYNAMO_STRICT: "torch.export, strict",
    Rung.DYNAMO_BY_SIZE: "torch.export, a graph for each part of the sizes",
    Rung.DYNAMO_UNOPTIMIZED: "torch.export, without the optimizer",
    Rung.SCRIPT: "torch.jit.script",
    Rung.DYNAMO_BY_VALUE: "torch.export, a graph for each path through branches on values",
    Rung.TRACE: "torch.jit.trace",
}
_OUTCOMES = {"Verified": "verified", "Deferred": "deferred to the other route"}


@dataclass(frozen=True)
class RungRow:
    """A way to ONNX that was tried."""

    name: str
    meaning: str
    outcome: str
    reason: str
    message: str
    seconds: str
    width: float
    verified: bool
    deferred: bool


@dataclass(frozen=True)
class StageRow:
    """A stage of the run."""

    name: str
    seconds: str
    width: float


@dataclass(frozen=True)
class Route:
    """The section on the way to ONNX."""

    rungs: tuple[RungRow, ...]
    stages: tuple[StageRow, ...]


def route_of(report: Report) -> Route:
    """Return what was tried, in order, and the time of each stage."""
    rung_widths = share_of_largest([tried.seconds for tried in report.attempts])
    stages = list(_stages(report))
    stage_widths = share_of_largest([seconds for _, seconds in stages])
    return Route(
        rungs=tuple(
            _rung(tried, width) for tried, width in zip(report.attempts, rung_widths, strict=True)
        ),
        stages=tuple(
            StageRow(name, text.seconds(seconds), width)
            for (name, seconds), width in zip(stages, stage_widths, strict=True)
        ),
    )


def _stages(report: Report) -> Iterator[tuple[str, float]]:
    """Yield the stages of the last attempt, and the rest of the run's time."""
    took = (report.finished - report.started).total_seconds()
    for stage in report.stages:
        yield stage.stage.value, stage.seconds
    rest = took - sum(stage.seconds for stage in report.stages)
    if rest > 0 and report.failure is None:
        yield "everything else", rest


def _rung(tried: TriedRung, width: float) -> RungRow:
    failure = tried.failure
    stage = f" in {failure.stage.value}" if failure and failure.stage else ""
    return RungRow(
        name=tried.rung.value,
        meaning=_MEANINGS[tried.rung],
        outcome=_OUTCOMES.get(tried.outcome, f"failed{stage}"),
        reason=failure.reason.value if failure else "",
        message=failure.message if failure else "",
        seconds=text.seconds(tried.seconds),
        width=width,
        verified=tried.outcome == "Verified",
        deferred=tried.outcome == "Deferred",
    )
