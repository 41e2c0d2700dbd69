"""The log of a share: progress over all its checkpoints, and counts of items.

The export of one checkpoint reports as a single export does; here its percentage becomes a part of
the share's, its messages get the checkpoint's name, and progress lines carry the counts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.core.log import Level, Log
from modelexport_exporter.report import text

_MESSAGE_LIMIT = 256
_ALL = 100


class ShareLog:
    """The log of a share; `counts` returns the current counts."""

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
        """Write a message."""
        self._log.log(level, message, **fields)

    def item_finished(self, result: ItemResult, done: int) -> None:
        """Log the result of a checkpoint, and how many of the share are done."""
        level: Level = "info" if result.outcome == "Succeeded" else "warning"
        self._log.log(level, describe_result(result), item=result.index, reason=result.reason)
        self.report(self._stage, done, 0, f"{done} of {self._total} done")

    def report(self, stage: Stage, done: int, percent: int, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Report the share's progress, with the current checkpoint at a percentage."""
        with self._lock:
            share = done + percent / _ALL
            found = int(share / self._total * _ALL) if self._total else _ALL
            self._percent, self._stage = max(self._percent, found), stage
            progress = Progress(stage=stage, percent=self._percent, message=message)
        self._log.progress(progress, share=self._counts(), **fields)

    def add_item_name(self, name: str, position: int, message: str) -> str:
        """Return a message with the name and number of its checkpoint."""
        return f"{name} ({position + 1} of {self._total}): {message}"[:_MESSAGE_LIMIT]


class _ItemLog:
    """The log of one checkpoint's export."""

    def __init__(self, share: ShareLog, name: str, position: int) -> None:
        self._share = share
        self._name = name
        self._position = position

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Write a message with the checkpoint's name; worker output stays as it is."""
        if not fields.get("worker"):
            message = f"{self._name}: {message}"
        self._share.log(level, message, **fields)

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Report progress as a part of the share's."""
        message = self._share.add_item_name(self._name, self._position, progress.message)
        self._share.report(progress.stage, self._position, progress.percent, message, **fields)


def describe_result(result: ItemResult) -> str:
    """Return a checkpoint's result in one line."""
    if result.reason is not None:
        return f"{result.name}: {result.reason}: {result.message}"
    parts = ["verified", "up to date" if result.reused else ""]
    if result.limit_share is not None:
        parts.append(text.of_limit(float(result.limit_share)))
    parts.append(text.seconds(result.seconds or 0.0))
    words = ", ".join(part for part in parts if part)
    return f"{result.name}: {words}".replace("\N{NO-BREAK SPACE}", " ")
