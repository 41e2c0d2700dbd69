"""The log of a checkpoint that is prepared ahead: messages are written when it is exported."""

from __future__ import annotations

import threading
from typing import Any

from modelexport_api.status import Progress
from modelexport_exporter.core.log import Level, Log


class BufferedLog:
    """Keeps messages until a log is attached; progress before that is dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._log: Log | None = None
        self._kept: list[tuple[Level, str, dict[str, Any]]] = []

    def attach(self, log: Log) -> None:
        """Write to this log from now on, beginning with the kept messages."""
        with self._lock:
            kept, self._kept, self._log = self._kept, [], log
        for level, message, fields in kept:
            log.log(level, message, **fields)

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Write a message, or keep it."""
        with self._lock:
            if self._log is None:
                self._kept.append((level, message, fields))
                return
        self._log.log(level, message, **fields)

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Report progress if a log is attached."""
        if self._log is not None:
            self._log.progress(progress, **fields)
