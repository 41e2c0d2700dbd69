"""The log of a checkpoint whose turn has not come: it tells what happened when it has."""

from __future__ import annotations

import threading
from typing import Any

from modelexport_api.status import Progress
from modelexport_exporter.core.log import Level, Log


class BufferedLog:
    """Keeps messages until there is somebody to tell; progress ahead of its turn is dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._log: Log | None = None
        self._kept: list[tuple[Level, str, dict[str, Any]]] = []

    def attach(self, log: Log) -> None:
        """Tell this log from now on, beginning with what was kept."""
        with self._lock:
            kept, self._kept, self._log = self._kept, [], log
        for level, message, fields in kept:
            log.log(level, message, **fields)

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Tell something that happened, or keep it."""
        with self._lock:
            if self._log is None:
                self._kept.append((level, message, fields))
                return
        self._log.log(level, message, **fields)

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Tell how far the export is, if anybody listens."""
        if self._log is not None:
            self._log.progress(progress, **fields)
