"""`modelexport retry`: resumes a cancelled export, or creates a failed one again."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport_api.reasons import ExitCode
from modelexport_cli.cluster import recreation
from modelexport_cli.cluster.connection import connect
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.export import Export, observe
from modelexport_cli.cluster.invocation import Invocation
from modelexport_cli.cluster.lookup import find
from modelexport_cli.cluster.manifest import recreated
from modelexport_cli.cluster.submit import next_steps, wait
from modelexport_cli.cluster.summary import print_status

if TYPE_CHECKING:
    from modelexport_cli.cluster.client import Cluster

_PAUSE = 0.5
_DELETION_SECONDS = 120.0


def retry(args: argparse.Namespace, called: Invocation) -> int:
    """Run the export once more, and wait for its end if that is requested."""
    cluster = connect(called.selection)
    record = recreation.record_path(os.environ, Path.home(), cluster.access, args.name)
    export = _again(cluster, args.name, record)
    if args.wait:
        return wait(cluster, export, args, called)
    if args.output_format == "json":
        print_status(export)
    else:
        print(next_steps(export, called), file=sys.stderr)
    return int(ExitCode.DONE)


def _again(cluster: Cluster, name: str, record: Path) -> Export:
    """Return the export that runs, or has succeeded."""
    try:
        export = find(cluster, name)
    except ClusterError as error:
        if error.reason != "NotFound" or not record.exists():
            raise
        print(f"{name} was deleted by a retry that did not end: it is created now", file=sys.stderr)
        return _create(cluster, name, record)
    step = recreation.decide(export)
    if isinstance(step, recreation.Nothing):
        print(step.sentence, file=sys.stderr)
        return export
    if isinstance(step, recreation.Resume):
        print(f"{name} is resumed", file=sys.stderr)
        return observe(cluster.patch_export(name, {"spec": {"suspend": False}}))
    _write(record, recreated(export.raw))
    _delete(cluster, export, record)
    return _create(cluster, name, record)


def _write(record: Path, body: dict[str, Any]) -> None:
    """Write the file whole or not at all, for this user alone: it may hold secrets."""
    record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = record.with_suffix(f".{os.getpid()}")
    unfinished.touch(mode=0o600)
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(recreation.encode(body))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(record)


def _delete(cluster: Cluster, export: Export, record: Path) -> None:
    """Delete the export, and wait until it is gone."""
    print(f"{export.name} is {export.state}: it is deleted and created again", file=sys.stderr)
    if not export.deleting:
        cluster.delete_export(export.name, export.uid)
    deadline = time.monotonic() + _DELETION_SECONDS
    while True:
        try:
            raw = cluster.get_export(export.name)
        except ClusterError as error:
            if error.reason != "NotFound":
                raise
            return
        if raw["metadata"]["uid"] != export.uid:
            return
        if time.monotonic() > deadline:
            held = ", ".join(recreation.blockers(raw)) or "its Job"
            raise ClusterError(
                f"{export.name} is not deleted after {_DELETION_SECONDS:.0f} s; it waits for "
                f"{held}",
                f"Run the command again later. What it will create is in {record}.",
                exit_code=int(ExitCode.RETRYABLE),
            )
        time.sleep(_PAUSE)


def _create(cluster: Cluster, name: str, record: Path) -> Export:
    """Create the recorded export, unless somebody else was faster."""
    try:
        export = observe(cluster.create_export(json.loads(record.read_text(encoding="utf-8"))))
    except ClusterError as error:
        if error.reason != "AlreadyExists":
            raise ClusterError(
                f"{name} was deleted and could not be created again: {error.message}",
                f"Run the command again, or `kubectl create -f {record}`. {error.hint}".strip(),
                exit_code=error.exit_code,
                reason=error.reason,
            ) from None
        export = find(cluster, name)
    record.unlink(missing_ok=True)
    return export
