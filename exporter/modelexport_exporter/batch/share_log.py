"""Tells of a share what the log of one export tells: progress over all of it, and counts of items.

Whoever exports one checkpoint reports as if it were alone; here its percent becomes a part of the
share's, its messages get the checkpoint's name, and every line carries how many are how far.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_exporter.batch.items import ItemResult
from modelexport_exporter.core.log import Level, Log
from modelexport_exporter.report import text

_MESSAGE_LIMIT = 256
_ALL = 100


class ShareLog:
    """The log of a share; `counts` tells how many are how far now."""

    def __init__(self, log: Log, total: int, counts: Callable[[], ShareCounts]) -> None:
        self._log = log
        self._total = total
        self._counts = counts
        self._lock = threading.Lock()
        self._percent = 0
        self._stage = Stage.FETCH

    def item(self, name: str, position: int) -> Log:
        """Return the log for one checkpoint; `position`: how many of the share come before it."""
        return _ItemLog(self, name, position)

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Tell something that happened."""
        self._log.log(level, message, **fields)

    def ended(self, result: ItemResult, done: int) -> None:
        """Tell what became of a checkpoint, and how many of the share have ended."""
        level: Level = "info" if result.outcome == "Succeeded" else "warning"
        self._log.log(level, sentence(result), item=result.index)
        self.move(self._stage, done, 0, f"{done} of {self._total} done")

    def move(self, stage: Stage, done: int, percent: int, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Tell how far the share is when one more checkpoint is at a percent."""
        with self._lock:
            share = done + percent / _ALL
            found = int(share / self._total * _ALL) if self._total else _ALL
            self._percent, self._stage = max(self._percent, found), stage
            progress = Progress(stage=stage, percent=self._percent, message=message)
        self._log.progress(progress, share=self._counts(), **fields)

    def numbered(self, name: str, position: int, message: str) -> str:
        """Return a message with the checkpoint that it speaks of."""
        return f"{name} ({position + 1} of {self._total}): {message}"[:_MESSAGE_LIMIT]


class _ItemLog:
    """The log that one export gets."""

    def __init__(self, share: ShareLog, name: str, position: int) -> None:
        self._share = share
        self._name = name
        self._position = position

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Tell something that happened; what a worker prints is left as it is."""
        told = message if fields.get("worker") else f"{self._name}: {message}"
        self._share.log(level, told, **fields)

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Tell how far the export is, as a part of the share."""
        message = self._share.numbered(self._name, self._position, progress.message)
        self._share.move(progress.stage, self._position, progress.percent, message, **fields)


def sentence(result: ItemResult) -> str:
    """Return what became of a checkpoint, in a line."""
    if result.reason is not None:
        return f"{result.name}: {result.reason}: {result.message}"
    parts = ["verified", "up to date" if result.reused else ""]
    if result.limit_share is not None:
        parts.append(text.of_limit(float(result.limit_share)))
    parts.append(text.seconds(result.seconds or 0.0))
    words = ", ".join(part for part in parts if part)
    return f"{result.name}: {words}".replace("\N{NO-BREAK SPACE}", " ")
