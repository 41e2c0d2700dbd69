"""The files of an artifact as a worker left them: named by us, opened without following links.

User code runs in the worker as the same user. So what the worker says of its files is compared with
what is there, when the worker and all that it started have ended.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.publish.layout import MODEL_NAME, is_model_file
from modelexport_exporter.storage.errors import artifact_changed

_NO_LINKS = os.O_NOFOLLOW | os.O_CLOEXEC


def check_names(files: Sequence[WrittenFile]) -> None:
    """Raise ExportFailure unless the files are a model and its external data. Pure."""
    names = [file.name for file in files]
    foreign = [name for name in names if not is_model_file(name)]
    if foreign or names.count(MODEL_NAME) != 1 or len({*names}) < len(names):
        raise ExportFailure(
            Reason.WORKER_ANSWER_INVALID,
            f"the export worker names the files {_listed(names)}; one {MODEL_NAME} and files "
            "model.<digest>.data were expected",
            "The model's code must not change what the exporter writes or answers.",
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:80]) for name in names[:5])
    return f"{shown}, …" if len(names) > 5 else shown or "(none)"  # noqa: PLR2004


def check_unchanged(directory: Path, files: Sequence[WrittenFile]) -> None:
    """Raise ExportFailure unless each file is there with its size and digest."""
    for file in files:
        with (
            opened(directory, file.name) as descriptor,
            open(descriptor, "rb", closefd=False) as it,
        ):
            size = os.fstat(descriptor).st_size
            if size != file.size_bytes:
                raise artifact_changed(
                    file.name, f"it has {size:,} bytes, {file.size_bytes:,} expected"
                )
            digest = hashlib.file_digest(it, "sha256").hexdigest()
            if digest != file.sha256:
                raise artifact_changed(file.name, f"SHA-256 {digest}, {file.sha256} expected")


@contextlib.contextmanager
def opened(directory: Path, name: str) -> Iterator[int]:
    """Open a regular file directly below a directory for reading. Raises ExportFailure."""
    try:
        above = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS)
        try:
            # Without O_NONBLOCK, opening a named pipe would wait for a writer.
            descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINKS, dir_fd=above)
        finally:
            os.close(above)
    except (OSError, ValueError) as error:
        raise artifact_changed(name, f"it cannot be opened: {error}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise artifact_changed(name, "it is no regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def write_new(path: Path, content: bytes) -> None:
    """Write a file in a worker's directory: never through a link that is there."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(content)
