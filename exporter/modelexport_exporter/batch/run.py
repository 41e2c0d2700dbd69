"""What a pod runs: one checkpoint, or a share of a batch. Never raises.

    plan -> journal -> loop over the share -> journal -> results of all shares

A single checkpoint goes to the pipeline, with the placeholders of its destination resolved.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from modelexport_api.conditions import stages_of
from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Mode
from modelexport_api.status import Failure, Stage
from modelexport_exporter.batch.destinations import single_of
from modelexport_exporter.batch.engine import Engine
from modelexport_exporter.batch.journal import JournalWriter
from modelexport_exporter.batch.loop import Loop
from modelexport_exporter.batch.plan import Planned, make_plan
from modelexport_exporter.batch.publish_results import publish_results
from modelexport_exporter.batch.rebinding_engine import RebindingEngine
from modelexport_exporter.batch.results import Results
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.locked_directory import remove_dead
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation.interruption import ignore_signals, interruptible
from modelexport_exporter.isolation.unexpected_error import unexpected_error
from modelexport_exporter.pipeline import run as pipeline
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.report.signing import take_signer

MakeEngine = Callable[[Settings], Engine]


@dataclass(frozen=True)
class Part:
    """Which share of a batch, of how many."""

    share: int = 0
    shares: int = 1


WHOLE = Part()


@dataclass(frozen=True)
class ShareRun:
    """The result of a share, and the results of the whole batch."""

    result: PodResult
    results: Results | None = None


def run_single(resource: ModelExport, settings: Settings, log: Log) -> PodResult:
    """Export or verify one checkpoint. Call it from the main thread."""
    try:
        resource = single_of(resource)
    except ExportFailure as failure:
        return _failed(failure.describe(Stage.FETCH))
    return pipeline.run(resource, settings, log)


def run_share(
    resource: ModelExport,
    settings: Settings,
    log: Log,
    part: Part = WHOLE,
    make_engine: MakeEngine = RebindingEngine,
) -> ShareRun:
    """Export one share of a batch. Call it from the main thread."""
    with interruptible():
        try:
            settings = replace(_with_signer(resource, settings), batch=resource.spec)
            remove_dead(settings.work_dir)  # a share that has nothing left to do needs no directory
            planned = make_plan(resource, part.shares)
            with _closing(make_engine(settings)) as engine:
                loop = Loop(planned, part.share, _open_journal(planned, part, log), engine, log)
                failure = loop.run()
            return _finish(planned, loop, failure, log)
        except ExportFailure as failure:
            ignore_signals()
            return ShareRun(_failed(failure.describe(Stage.FETCH)))
        except Exception as error:  # noqa: BLE001 - an unexpected error is a result, too
            ignore_signals()
            return ShareRun(_failed(unexpected_error(error, log).describe()))


def _with_signer(resource: ModelExport, settings: Settings) -> Settings:
    """Return settings with the signing key, which can be taken from the environment only once.

    Raises ExportFailure.
    """
    if resource.spec.mode is not Mode.EXPORT:
        return settings
    required = resource.spec.destination.signing_secret_name is not None
    return replace(settings, signer=take_signer(os.environ, required=required))


def _open_journal(planned: Planned, part: Part, log: Log) -> JournalWriter:
    journal = JournalWriter(planned.directory, part.share, log)
    journal.resume(again=planned.resource.metadata.uid is None)
    return journal


def _finish(planned: Planned, loop: Loop, failure: Failure | None, log: Log) -> ShareRun:
    """Store the results and return them. Raises ExportFailure if they would be lost."""
    try:
        loop.journal.close()
        results, index = publish_results(planned)
    except ExportFailure as second:
        if failure is None:
            raise
        log.log("warning", f"failed to store the results: {second.message}")
        return ShareRun(_failed(failure).model_copy(update={"share": loop.counts()}))
    result = PodResult(
        outcome="Failed" if failure else "Succeeded",
        failure=failure,
        completed=[] if failure else list(stages_of(planned.resource.spec.mode)),
        share=loop.counts(),
        report_uri=index.uri,
        peak_memory_bytes=loop.peak_memory_bytes or None,
    )
    return ShareRun(result, results)


@contextlib.contextmanager
def _closing(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.close()


def _failed(failure: Failure) -> PodResult:
    return PodResult(outcome="Failed", failure=failure)
