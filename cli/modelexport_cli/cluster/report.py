"""`modelexport report`: fetches report.html from the destination of an export."""

from __future__ import annotations

import argparse
import sys
import tempfile
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from modelexport_api.reasons import EXIT_CODES, ExitCode, Reason
from modelexport_api.spec import Storage
from modelexport_cli.cluster import report_location
from modelexport_cli.cluster.connection import connect
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.invocation import Invocation
from modelexport_cli.cluster.lookup import find
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Role


def report(args: argparse.Namespace, called: Invocation) -> int:
    """Save the report, open it, or print it."""
    export = find(connect(called.selection), args.name)
    uri = report_location.page_of(export)
    storage = report_location.storage_of(export.spec, args.endpoint)
    page = _read(uri, storage)
    if args.save == Path("-"):
        sys.stdout.buffer.write(page)
        return int(ExitCode.DONE)
    name = report_location.file_name(export.name)
    if args.open:
        directory = Path(tempfile.mkdtemp(prefix="modelexport-report-"))
        path = _write(directory / name, page)
        if not webbrowser.open(path.as_uri()):
            print(f"no browser can be opened here; the report is {path}", file=sys.stderr)
            return int(ExitCode.DONE)
    else:
        target = args.save or Path(name)
        path = _write(target / name if target.is_dir() else target, page)
    print(path)
    return int(ExitCode.DONE)


def _read(uri: str, storage: Storage) -> bytes:
    if uri.startswith("s3://") and find_spec("boto3") is None:
        raise ClusterError(
            f"{uri} is on S3, and the Python package boto3 is not installed",
            "Install it: pip install 'modelexport[cluster]'",
        )
    try:
        location = locate(uri, storage, Role.SOURCE)
        found = location.store.read(location.key)
    except ExportFailure as failure:
        raise ClusterError(
            f"the report cannot be read: {failure.message}",
            report_location.hint(failure.reason, uri, storage),
            exit_code=int(EXIT_CODES[failure.reason]),
            reason=failure.reason.value,
        ) from None
    if found is None:
        raise ClusterError(
            report_location.absent(uri),
            report_location.hint(Reason.SOURCE_NOT_FOUND, uri, storage),
            exit_code=int(ExitCode.SOURCE),
        )
    return found[0]


def _write(path: Path, page: bytes) -> Path:
    try:
        path.write_bytes(page)
    except OSError as error:
        raise ClusterError(
            f"{path} cannot be written: {error.strerror}", "Choose another place by --save."
        ) from None
    return path.resolve()
