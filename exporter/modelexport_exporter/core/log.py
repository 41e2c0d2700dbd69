"""The log of an export: JSON lines for the operator, text for people.

Standard output is reserved for results; the log goes to one stream, a whole line at a time.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any, Protocol, TextIO, get_args

from modelexport_api.items import ShareCounts
from modelexport_api.pod import LogLevel, LogLine
from modelexport_api.status import Progress

Level = LogLevel
LEVELS: tuple[Level, ...] = get_args(LogLevel)
"""The least important first."""


class Log(Protocol):
    """Takes messages and progress, from any thread."""

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Write a message."""

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Report progress; field `share`: the counts of a batch's share."""


class JsonLog:
    """Writes the lines that the operator tails (`modelexport_api.pod.LogLine`)."""

    def __init__(self, stream: TextIO, least: Level = "debug") -> None:
        self._stream = stream
        self._levels = LEVELS[LEVELS.index(least) :]
        self._lock = threading.Lock()
        self._identity: dict[str, str | None] = {}

    def identify(self, namespace: str | None, name: str, uid: str | None) -> None:
        """Add to all further lines of which ModelExport they are."""
        self._identity = {"namespace": namespace, "name": name, "uid": uid}

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Write a line, if its level is not below the least."""
        if level not in self._levels:
            return
        self._write(LogLine(time=_now(), level=level, message=message, fields=fields))

    def progress(
        self,
        progress: Progress,
        share: ShareCounts | None = None,
        **fields: Any,  # noqa: ANN401
    ) -> None:
        """Write a line that moves the resource's progress, and its counts of items."""
        line = LogLine(
            time=_now(),
            level="info",
            message=f"{progress.stage}: {progress.message}",
            progress=progress,
            share=share,
            fields=fields,
        )
        self._write(line)

    def _write(self, line: LogLine) -> None:
        line = line.model_copy(update=self._identity)
        text = line.model_dump_json(by_alias=True, exclude_none=True)
        with self._lock:
            self._stream.write(text + "\n")
            self._stream.flush()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
