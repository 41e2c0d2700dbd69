"""What the pod's process does.

The ModelExport comes in one environment variable; the output is the log, the termination message
and the exit code (`modelexport_api.pod`). Every failure is typed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from modelexport_api.pod import (
    LOG_LEVEL_ENV,
    MANIFEST_ENV,
    TERMINATION_LOG,
    WORK_DIR,
    PodResult,
    encode_termination,
)
from modelexport_api.reasons import Reason
from modelexport_api.resource import ManifestError, ModelExport, parse
from modelexport_exporter.batch.run import Part, run_share, run_single
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import LEVELS, JsonLog, Level, Log
from modelexport_exporter.core.stage_times import TimedLog
from modelexport_exporter.isolation.server import end_orphans
from modelexport_exporter.isolation.socket_directory import remove_socket_directory
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pod_trace import find_parent, send, span_of_pod

TERMINATION_LOG_ENV = "MODELEXPORT_TERMINATION_LOG"
WORK_DIR_ENV = "MODELEXPORT_WORK_DIR"
INDEX_ENV = "JOB_COMPLETION_INDEX"
"""Set by Kubernetes in the pods of an Indexed Job: the number of the pod's share."""


def run() -> int:
    """Run the export that the environment describes; return the exit code."""
    log = JsonLog(sys.stderr, least_level(os.environ))
    parent, started, span = find_parent(os.environ), time.time(), None
    try:
        resource = read_manifest(os.environ)
    except ExportFailure as failure:
        result = PodResult(outcome="Failed", failure=failure.describe())
    else:
        meta = resource.metadata
        log.identify(meta.namespace, meta.name, meta.uid)
        work_dir = Path(os.environ.get(WORK_DIR_ENV, WORK_DIR))
        timed = TimedLog(log) if parent is not None else None
        result = _run(resource, Settings(work_dir), timed or log)
        if parent is not None and timed is not None:
            span = span_of_pod(resource, result, timed.times, parent, (started, time.time()))
    if result.failure is not None:
        log.log("error", f"{result.failure.reason}: {result.failure.message}")
    with contextlib.suppress(ExportFailure):
        # What the model's code left behind must not write another result.
        end_orphans()
    remove_socket_directory()
    write_termination(result, os.environ)
    if span is not None:
        send(span, log)
    return int(result.exit_code)


def least_level(environment: Mapping[str, str]) -> Level:
    """Return the least level of messages; an unknown one writes all."""
    stated = environment.get(LOG_LEVEL_ENV, "")
    return next((level for level in LEVELS if level == stated), "debug")


def _run(resource: ModelExport, settings: Settings, log: Log) -> PodResult:
    if not resource.spec.source.is_batch:
        return run_single(resource, settings, log)
    part = Part(int(os.environ.get(INDEX_ENV, "0")), resource.spec.parallelism)
    return run_share(resource, settings, log, part).result


def read_manifest(environment: Mapping[str, str]) -> ModelExport:
    """Return the ModelExport in the environment. Raises ExportFailure."""
    hint = f"{MANIFEST_ENV} holds the ModelExport as JSON; the operator sets it."
    text = environment.get(MANIFEST_ENV)
    if text is None:
        raise ExportFailure(Reason.INVALID_MANIFEST, f"{MANIFEST_ENV} is not set", hint)
    try:
        return parse(json.loads(text))
    except ManifestError as error:
        raise ExportFailure(Reason.INVALID_MANIFEST, str(error), "Correct the spec.") from None
    except ValueError as error:
        message = f"{MANIFEST_ENV} is not JSON: {error}"
        raise ExportFailure(Reason.INVALID_MANIFEST, message, hint) from None


def write_termination(result: PodResult, environment: Mapping[str, str]) -> None:
    """Write the termination message where the kubelet reads it, if that path exists."""
    chosen = environment.get(TERMINATION_LOG_ENV)
    path = Path(chosen or TERMINATION_LOG)
    if chosen or path.exists():
        path.write_text(encode_termination(result), encoding="utf-8")
