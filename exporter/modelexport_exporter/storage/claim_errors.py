"""What an error of a mounted claim means for the user."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.claims import SCHEME
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.beneath import LeavesRootError, NoRootError, Tree
from modelexport_exporter.storage.errors import Access, denied, missing, of_os_error
from modelexport_exporter.storage.store import Role


@dataclass(frozen=True)
class Mount:
    """A claim, and where it is mounted."""

    claim: str
    root: Path
    role: Role


@contextlib.contextmanager
def typed_errors(mount: Mount, uri: str) -> Iterator[None]:
    """Raise an ExportFailure for an error of the file system."""
    try:
        yield
    except OSError as error:
        raise failure_of(error, mount, uri) from error
    except ValueError as error:
        if "\0" not in uri:
            raise
        access = Access(mount.role, uri, None, None)
        raise missing(access, f"no such path can exist: {error}") from error


def failure_of(error: OSError, mount: Mount, uri: str) -> ExportFailure:
    """Return the failure for an error of the file system."""
    access = Access(mount.role, uri, None, None)
    if isinstance(error, NoRootError):
        return missing(
            access,
            f"the claim {mount.claim} is not mounted at {mount.root}",
            "Only the pods of a cluster mount claims. Write file:///PATH for a run on this "
            "machine, or set MODELEXPORT_CLAIMS_DIR to a directory that has the content of each "
            "claim under its name.",
        )
    if isinstance(error, LeavesRootError):
        return denied(
            access,
            error.strerror or "it leads out of the volume",
            "Replace the link by the file that it names, or by a relative link inside of the "
            "volume.",
        )
    return of_os_error(error, access, uri, _hint(mount, uri))


def _hint(mount: Mount, uri: str) -> str:
    """Say who asked and who may: of what is read, or of the directory that is written to."""
    prefix = f"{SCHEME}{mount.claim}/"
    path = uri.removeprefix(prefix)
    verb = "read it"
    if mount.role is Role.DESTINATION:
        path, verb = path.rpartition("/")[0], "write there"
    groups = ", ".join(str(group) for group in sorted({os.getegid(), *os.getgroups()}))
    return (
        f"The export runs as user {os.geteuid()} with the groups {groups}; "
        f"{_ownership(mount, prefix, path)}. Let one of them {verb}, or set runAsUser, fsGroup or "
        "supplementalGroups in spec.podTemplate.spec.securityContext to those of the training job."
    )


def _ownership(mount: Mount, prefix: str, path: str) -> str:
    try:
        seen, found = Tree(mount.root).last_seen(path)
    except OSError as error:
        return f"{prefix} cannot be looked at ({error.strerror})"
    mode = stat.filemode(found.st_mode)
    return f"{prefix}{seen} is of user {found.st_uid} and group {found.st_gid} ({mode})"
