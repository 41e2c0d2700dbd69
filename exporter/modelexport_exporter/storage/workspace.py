"""A directory for one run's files, gone afterwards, and the remains of killed runs with it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.errors import from_os_error
from modelexport_exporter.storage.store import Role

PREFIX = "modelexport-run-"
_LOCK_NAME = "lock"


@contextlib.contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """Yield an empty directory below `parent`; a run that is alive holds a lock on its own."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        descriptor = os.open(directory / _LOCK_NAME, os.O_CREAT | os.O_RDWR)
    except OSError as error:
        raise _unusable(error, parent) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield directory
    finally:
        os.close(descriptor)
        shutil.rmtree(directory, ignore_errors=True)


def _unusable(error: OSError, parent: Path) -> ExportFailure:
    failure = from_os_error(error, Role.DESTINATION, str(parent))
    if failure.reason is not Reason.DESTINATION_DENIED:
        return failure
    return ExportFailure(
        failure.reason,
        f"the directory for files in the making, {parent}, cannot be written: {error.strerror}",
        "Choose another with --work-dir."
        if not place.in_pod()
        else "Correct its volume in spec.podTemplate.",
    )


def _sweep(parent: Path) -> None:
    """Remove the directories of runs that are no longer alive."""
    for directory in parent.glob(f"{PREFIX}*"):
        try:
            descriptor = os.open(directory / _LOCK_NAME, os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(descriptor)
