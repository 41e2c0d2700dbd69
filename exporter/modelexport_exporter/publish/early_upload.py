"""External data on its way to the store, unseen, while its verdict is still open.

The model's own file is small then, and gets its verdict only after it. What is published on this
machine is staged after the verdict: a link costs one reading, and onnx refuses what has two. A
copy is made where processes run that may still change the file: the workers of a batch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.progress import ByteCounter
from modelexport_exporter.core.types import ConvertedModel, WrittenFile
from modelexport_exporter.publish.layout import MODEL_NAME
from modelexport_exporter.publish.publish import Publication
from modelexport_exporter.storage.store import Origin


class EarlyUpload:
    """Stages the files of a model in its own thread."""

    def __init__(
        self,
        publication: Publication,
        converted: ConvertedModel,
        report: Callable[[Stage, float, str], None],
        alone: Callable[[], bool] = lambda: False,
        *,
        origins: Mapping[str, Origin] | None = None,
        warn: Callable[[str], None] = lambda _message: None,
    ) -> None:
        """Begin, where there is a way to go.

        `alone`: returns whether no process of the export runs that may have the files open.
        `origins`: objects that are files of the model as they are, by name; the store copies them
        itself if it can. `warn`: says why it could not.
        """
        known = origins or {}
        files = [file for file in converted.files if file.name != MODEL_NAME]
        total = sum(file.size_bytes for file in files)
        self._counter = ByteCounter(report, Stage.PUBLISH, total, "uploaded")

        def upload() -> None:
            for file in files:
                if file.name in known and self._copied(publication, known[file.name], file, warn):
                    continue
                path = converted.model_path.parent / file.name
                publication.stage(path, file, self._counter, alone=alone())

        self._upload = upload
        self._running: Future[None] | None = None
        if not publication.is_local:
            pool = ThreadPoolExecutor(1, thread_name_prefix="upload")
            self._running = pool.submit(upload)
            pool.shutdown(wait=False)

    def _copied(
        self,
        publication: Publication,
        origin: Origin,
        file: WrittenFile,
        warn: Callable[[str], None],
    ) -> bool:
        """Return whether the store copied an object; a file that it refuses to copy is sent."""
        try:
            return publication.stage_copy(origin, file, self._counter)
        except ExportFailure as failure:
            warn(f"{file.name} is uploaded, not copied by the server: {failure.message}")
            return False

    def wait(self) -> None:
        """Return when all is staged. Raises ExportFailure."""
        if self._running is None:
            self._upload()
        else:
            self._running.result()

    def stop(self) -> None:
        """End it; what was staged until then is the publication's to drop."""
        self._counter.abandon()
        if self._running is not None:
            with contextlib.suppress(Exception):
                self._running.result()
