"""How the file was made: the rungs that were tried, and where the time went. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modelexport_api.status import Stage
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
    note: str
    seconds: str
    width: float


@dataclass(frozen=True)
class Route:
    """The section on the way to ONNX."""

    rungs: tuple[RungRow, ...]
    stages: tuple[StageRow, ...]
    took: str
    """All of them."""


def route_of(report: Report) -> Route:
    """Return what was tried, in order, and the time of each stage."""
    rung_widths = share_of_largest([tried.seconds for tried in report.attempts])
    took = (report.finished - report.started).total_seconds()
    parts = list(_parts(report, took))
    part_widths = share_of_largest([part.seconds for part in parts])
    return Route(
        rungs=tuple(
            _rung(tried, width) for tried, width in zip(report.attempts, rung_widths, strict=True)
        ),
        stages=tuple(
            StageRow(part.name, part.note, text.seconds(part.seconds), width)
            for part, width in zip(parts, part_widths, strict=True)
        ),
        took=text.seconds(took),
    )


@dataclass(frozen=True)
class _Part:
    name: str
    seconds: float
    note: str = ""


def _parts(report: Report, took: float) -> list[_Part]:
    """Return parts of the run's time, which add up to it."""
    known = {stage.stage: stage.seconds for stage in report.stages}
    parts = [_Part(Stage.FETCH.value, known[Stage.FETCH])] if Stage.FETCH in known else []
    parts += [
        _Part(f"attempt {number}: {tried.rung.value}", tried.seconds, _outcome(tried))
        for number, tried in enumerate(report.attempts, start=1)
        if tried.outcome != "Verified"
    ]
    if not report.attempts or report.attempts[-1].outcome == "Verified":
        # Of a failed attempt the stages are in its time.
        parts += [_Part(stage.value, known[stage]) for stage in known if stage is not Stage.FETCH]
        if report.measured.latency_seconds:
            parts.append(_Part("latency", report.measured.latency_seconds))
    rest = took - sum(part.seconds for part in parts)
    return [*parts, _rest(report, parts, rest)] if rest > 0 else parts


def _rest(report: Report, parts: Sequence[_Part], seconds: float) -> _Part:
    stage = report.failure.stage if report.failure else None
    if stage is not None and not report.attempts and stage.value not in {p.name for p in parts}:
        return _Part(stage.value, seconds, "failed; what came before it included")
    return _Part("everything else", seconds)


def _outcome(tried: TriedRung) -> str:
    failure = tried.failure
    stage = f" in {failure.stage.value}" if failure and failure.stage else ""
    return _OUTCOMES.get(tried.outcome, f"failed{stage}")


def _rung(tried: TriedRung, width: float) -> RungRow:
    failure = tried.failure
    return RungRow(
        name=tried.rung.value,
        meaning=_MEANINGS[tried.rung],
        outcome=_outcome(tried),
        reason=failure.reason.value if failure else "",
        message=failure.message if failure else "",
        seconds=text.seconds(tried.seconds),
        width=width,
        verified=tried.outcome == "Verified",
        deferred=tried.outcome == "Deferred",
    )
