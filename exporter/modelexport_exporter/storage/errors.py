"""What a store's refusal means for the user: one reason and a way out for each kind of refusal.

Pure. Permanent and retryable are kept apart here, because a pod that retries wrong keys wastes an
hour, and one that gives up on a slow store wastes a training run. `s3_errors` sorts the many errors
of S3 into these few.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_exporter.core import place
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.refused_places import RefusedPlaceError
from modelexport_exporter.storage.store import Role


@dataclass(frozen=True)
class Access:
    """Which request was refused: enough to say what to check, nothing that is secret."""

    role: Role
    uri: str
    secret_name: str | None
    endpoint: str | None

    @property
    def identity(self) -> str:
        """Name what the request was signed with."""
        if self.secret_name:
            return f"the Secret {self.secret_name!r} (spec.storage.secretName)"
        if place.in_pod():
            return (
                "the pod's identity (spec.serviceAccountName, or keys by spec.storage.secretName)"
            )
        return "the AWS profile or AWS_* variables of this machine"

    @property
    def server(self) -> str:
        """Name the server."""
        return self.endpoint or "AWS S3"


def from_os_error(error: OSError, role: Role, path: str) -> ExportFailure:
    """Return the failure for an error of the file system."""
    hint = f"Check the owner and mode of {path}."
    return of_os_error(error, Access(role, f"file://{path}", None, None), path, hint)


def of_os_error(error: OSError, access: Access, path: str, hint: str) -> ExportFailure:
    """Return the failure for an error of a file system; `hint`: what to do if it refuses."""
    if isinstance(error, RefusedPlaceError):
        return denied(access, error.strerror or "", error.hint)
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return disk_full(path)
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EISDIR, errno.ELOOP}:
        return missing(access, error.strerror or "")
    if error.errno in {errno.EIO, errno.ESTALE, errno.ETIMEDOUT}:
        return unavailable(access, error.strerror or "input/output error")
    return denied(access, error.strerror or type(error).__name__, hint)


def missing(access: Access, detail: str, hint: str = "") -> ExportFailure:
    """Return the failure for something that is not there."""
    suffix = f": {detail}" if detail else ""
    if access.role is Role.DESTINATION:
        return ExportFailure(
            Reason.DESTINATION_DENIED,
            f"{access.uri} cannot be written{suffix}",
            hint or "Create the bucket or directory, or correct spec.destination.uri.",
        )
    if access.role is Role.CODE:
        return ExportFailure(
            Reason.CODE_INVALID,
            f"the model's code {access.uri} was not found{suffix}",
            hint or "Upload it, or correct spec.model.code.uri.",
        )
    if access.role is Role.ARTIFACT:
        return ExportFailure(
            Reason.ARTIFACT_INVALID,
            f"the artifact {access.uri} was not found{suffix}",
            hint or "Correct spec.artifact.uri, or spec.destination.uri where that is absent.",
        )
    return ExportFailure(
        Reason.SOURCE_NOT_FOUND,
        f"{access.uri} not found{suffix}",
        hint or "Correct spec.source.uri, or wait until the training job has written it.",
    )


def denied(access: Access, detail: str, hint: str) -> ExportFailure:
    """Return the failure for something that may not be read or written."""
    if access.role is Role.DESTINATION:
        return ExportFailure(
            Reason.DESTINATION_DENIED, f"{access.uri} cannot be written: {detail}", hint
        )
    return ExportFailure(Reason.ACCESS_DENIED, f"{access.uri} cannot be read: {detail}", hint)


def unavailable(access: Access, detail: str) -> ExportFailure:
    """Return the retryable failure for a store that does not answer as it should."""
    return ExportFailure(
        Reason.STORE_UNAVAILABLE,
        f"{access.uri} could not be reached: {detail}",
        f"It is tried again. If it stays, check that {access.server} is reachable from here.",
    )


def damaged(uri: str, algorithm: str, expected: str, found: str, attempts: int) -> ExportFailure:
    """Return the failure for an object that arrives with other bytes than the store has."""
    return ExportFailure(
        Reason.DIGEST_MISMATCH,
        f"{uri} was downloaded {attempts} times, and its {algorithm} is {found} where the store "
        f"says {expected}",
        "Its bytes changed on the way, or in the store. Upload it again; if that does not help, "
        "look for a proxy or a disk that changes them.",
    )


def disk_full(path: str) -> ExportFailure:
    """Return the failure for a full disk."""
    return ExportFailure(
        Reason.DISK_FULL,
        f"no space left on the disk of {path}",
        "Make room: the checkpoint, the artifact and a third of either must fit"
        + (
            " (ephemeral-storage, or a larger volume, in spec.podTemplate)."
            if place.in_pod()
            else ". --work-dir chooses another disk."
        ),
    )


def replaced(uri: str) -> ExportFailure:
    """Return the retryable failure for an object that changed under our hands."""
    return ExportFailure(
        Reason.SOURCE_CHANGED,
        f"{uri} was replaced while it was read, or deleted",
        "It is tried again with the new content. Write checkpoints under names that never change.",
    )


def artifact_changed(name: str, found: str) -> ExportFailure:
    """Return the failure for a file whose bytes are not those that the exporter wrote."""
    return ExportFailure(
        Reason.ARTIFACT_CHANGED,
        f"{name} is not what the exporter wrote: {found}",
        "Nothing was published. The model's code, and other processes of the user, must not change "
        "files of the export.",
    )
