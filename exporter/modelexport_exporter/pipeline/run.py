"""Runs one resource to its result: an export, or mode Verify. Never raises."""

from __future__ import annotations

from contextlib import closing
from typing import Protocol

from modelexport_api.conditions import end_of
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Mode
from modelexport_api.status import Failure
from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation.interruption import ignore_signals, interruptible
from modelexport_exporter.isolation.unexpected_error import unexpected_error
from modelexport_exporter.pipeline.context import RunContext, Settings
from modelexport_exporter.pipeline.export_run import ExportRun
from modelexport_exporter.pipeline.overlapped_workers import OverlappedWorkers
from modelexport_exporter.pipeline.verify_run import VerifyRun

_UNREPORTED = frozenset({Reason.DESTINATION_DENIED, Reason.INVALID_MANIFEST})


class Run(Protocol):
    """What leads to the result of one resource."""

    @property
    def context(self) -> RunContext:
        """Return what the steps of the run share."""

    def run(self) -> PodResult:
        """Return the result. Raises ExportFailure."""

    def publish_failure(self, failure: Failure) -> str:
        """Publish the report of a failure; return its URI."""


def run(resource: ModelExport, settings: Settings, log: Log) -> PodResult:
    """Do what the resource asks for. Never raises; call it from the main thread."""
    pool = OverlappedWorkers(settings.export_entry, settings.verify_entry)
    context = RunContext.create(resource, settings, log, pool)
    kind = VerifyRun if resource.spec.mode is Mode.VERIFY else ExportRun
    started: Run = kind(context)
    with closing(pool), interruptible():
        try:
            result = started.run()
        except ExportFailure as failure:
            ignore_signals()
            return fail(started, failure)
        except Exception as error:  # noqa: BLE001 - an unexpected error is a result, too
            ignore_signals()
            return fail(started, unexpected_error(error, log))
        context.report.complete(end_of(resource.spec.mode).value.lower())
        return result


def fail(failed: Run, failure: ExportFailure) -> PodResult:
    """Return the result for a failure, and publish its report where that is possible."""
    context = failed.context
    described = failure.describe(context.stage)
    report_uri = None
    if failure.reason not in _UNREPORTED:
        try:
            report_uri = failed.publish_failure(described)
        except Exception as second:  # noqa: BLE001 - the first failure is the one to return
            message = f"failed to store the report: {printable(str(second))}"
            context.log.log("warning", message)
    return context.record.failure_result(described, report_uri)
