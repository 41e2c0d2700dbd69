"""A directory for one run's files, gone afterwards, and the remains of killed runs with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.locked_directory import UntrustedDirectoryError, locked_directory
from modelexport_exporter.storage.errors import from_os_error
from modelexport_exporter.storage.store import Role


@contextlib.contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """Yield an empty directory below `parent`. Raises ExportFailure."""
    with ExitStack() as held:
        try:
            # A pod has one user, and its volumes have the mode that Kubernetes gives them.
            found = locked_directory(parent, trusted=place.in_pod())
            directory = held.enter_context(found)
        except OSError as error:
            raise _unusable(error, parent) from error
        except UntrustedDirectoryError as error:
            raise ExportFailure(
                Reason.DESTINATION_DENIED,
                f"the directory for files in the making, {parent}, {error}; "
                "its owner could replace the code that this run imports",
                "Choose a directory of your own with --work-dir, or remove this one.",
            ) from None
        yield directory


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
