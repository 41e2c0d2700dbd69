"""Whether the bytes that the judge reads are those that are published: their digests are the same.

What is sent has the digests that the exporter stated, or nothing is published. Where a process of
the user can still write the files (the kernel has no Landlock, or the exporter stays for the next
checkpoint of a batch), it could show the judge others.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack

from modelexport_exporter.core.types import ConvertedModel, WrittenFile
from modelexport_exporter.storage import regular_files


class PinnedFiles:
    """Reads the files of an export once more, in a thread: the judge mostly waits for eager."""

    def __init__(self, converted: ConvertedModel) -> None:
        """Open them, and begin to read the model's file first.

        Raises ExportFailure if one is no regular file: the judge would wait for a named pipe.
        """
        directory, model = converted.model_path.parent, converted.model_path.name
        with ExitStack() as opening:
            files = sorted(converted.files, key=lambda file: file.name != model)
            self._files = [
                (file, opening.enter_context(regular_files.opened(directory / file.name)))
                for file in files
            ]
            self._open = opening.pop_all()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Wait until all are read. Raises ExportFailure if one is not what the exporter wrote.

        Call it before the judge changes a file.
        """
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _read(self) -> None:
        try:
            with self._open:
                for file, descriptor in self._files:
                    _check(file, descriptor)
        except Exception as failure:  # noqa: BLE001 - raised where it is waited for
            self._failure = failure


def _check(file: WrittenFile, descriptor: int) -> None:
    regular_files.check_digest(file.name, regular_files.digest_from(descriptor), file.sha256)
