"""The files of an artifact as a worker left them: named by us, opened without following links.

User code runs in the worker as the same user, and in a batch it goes on running. So what the worker
says of its files is compared with the bytes that are published, not with those that it may change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.publish.layout import DATA_DIGITS, MODEL_NAME, is_model_file
from modelexport_exporter.storage.errors import artifact_changed, from_os_error
from modelexport_exporter.storage.regular_files import check_digest, copy_from, link, opened
from modelexport_exporter.storage.store import Role


def check_names(files: Sequence[WrittenFile]) -> None:
    """Raise ExportFailure unless the files are a model and its external data. Pure."""
    names = [file.name for file in files]
    foreign = [file.name for file in files if not _has_its_name(file)]
    if foreign or names.count(MODEL_NAME) != 1 or len({*names}) < len(names):
        raise ExportFailure(
            Reason.WORKER_ANSWER_INVALID,
            f"the export worker names the files {_listed(names)}; one {MODEL_NAME} and files "
            "model.<digest>.data were expected",
            "The model's code must not change what the exporter writes or answers.",
        )


def _has_its_name(file: WrittenFile) -> bool:
    """Return whether a file is the model, or external data that is named by its own digest.

    Under another name it would take the place of another artifact's.
    """
    return file.name == MODEL_NAME or (
        is_model_file(file.name) and file.name.split(".")[1] == file.sha256[:DATA_DIGITS]
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:80]) for name in names[:5])
    return f"{shown}, …" if len(names) > 5 else shown or "(none)"  # noqa: PLR2004


def take(directory: Path, file: WrittenFile, target: Path, *, alone: bool = False) -> None:
    """Bring a worker's file to where no worker can reach it, and check its bytes there.

    `alone`: whether no process of the export runs any more; the file need not be copied then.
    Raises ExportFailure unless the file is there with its size and digest.
    """
    source = directory / file.name
    digest = link(source, target) if alone else None
    if digest is None:
        digest = _copy(directory, file, target)
    elif (size := target.stat().st_size) != file.size_bytes:
        raise _of_another_size(file, size)
    check_digest(file.name, digest, file.sha256)
    if alone:
        source.unlink()


def _copy(directory: Path, file: WrittenFile, target: Path) -> str:
    with opened(directory / file.name) as descriptor:
        size = os.fstat(descriptor).st_size
        if size != file.size_bytes:
            raise _of_another_size(file, size)
        try:
            return copy_from(descriptor, target)
        except OSError as error:
            raise from_os_error(error, Role.DESTINATION, str(target)) from error


def _of_another_size(file: WrittenFile, size: int) -> ExportFailure:
    return artifact_changed(file.name, f"it has {size:,} bytes, {file.size_bytes:,} expected")
