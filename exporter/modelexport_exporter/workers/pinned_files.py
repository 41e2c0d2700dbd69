"""Whether the bytes that the judge reads are those that are published: their digests are the same.

What is sent has the digests that the exporter stated, or nothing is published. Where a process of
the user can still write the files (the kernel has no Landlock, or the exporter stays for the next
checkpoint of a batch), it could show the judge others.
"""

from __future__ import annotations

import threading

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, WrittenFile
from modelexport_exporter.storage import regular_files


class PinnedFiles:
    """Reads the files of an export once more, in a thread: the judge mostly waits for eager."""

    def __init__(self, converted: ConvertedModel) -> None:
        """Begin to read them, the model's file first."""
        self._directory = converted.model_path.parent
        model = converted.model_path.name
        self._files = sorted(converted.files, key=lambda file: file.name != model)
        self._failure: ExportFailure | None = None
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
            for file in self._files:
                self._check(file)
        except ExportFailure as failure:
            self._failure = failure

    def _check(self, file: WrittenFile) -> None:
        with regular_files.opened(self._directory / file.name) as descriptor:
            found = regular_files.digest_from(descriptor)
        regular_files.check_digest(file.name, found, file.sha256)
