"""`modelexport run` of a batch: all shares in this process, judged as the operator would."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from modelexport_api.resource import ModelExport
from modelexport_cli import batch_console
from modelexport_cli.batch_outcome import batch_status_of
from modelexport_cli.batch_verdict import print_batch
from modelexport_exporter.batch.judgement import judged
from modelexport_exporter.batch.run import run_share
from modelexport_exporter.pipeline.run_base import Settings


def run_batch(resource: ModelExport, settings: Settings, output: str) -> int:
    """Run a batch; return the exit code."""
    started = datetime.now(UTC)
    with batch_console.log_to(sys.stderr) as log:
        found = run_share(resource, settings, log)
    result = judged(found.result, resource.spec.max_failed)
    ended = datetime.now(UTC)
    metadata, mode = resource.metadata, resource.spec.mode
    if output == "json":
        status = batch_status_of(result, started, ended, metadata.generation, mode)
        print(status.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        seconds = (ended - started).total_seconds()
        print_batch(result, found.results, seconds, sys.stdout, metadata.name)
    return int(result.exit_code)
