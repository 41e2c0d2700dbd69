"""Messages of a checkpoint that is prepared ahead are written once it is exported."""

from __future__ import annotations

from typing import Any

from modelexport_api.status import Progress, Stage
from modelexport_exporter.batch.buffered_log import BufferedLog
from modelexport_exporter.core.log import Level

AHEAD = Progress(stage=Stage.FETCH, percent=10)


class RecordedLog:
    def __init__(self) -> None:
        self.lines: list[object] = []

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        self.lines.append((level, message, fields))

    def progress(self, progress: Progress, **_fields: Any) -> None:  # noqa: ANN401
        self.lines.append(progress)


def test_messages_wait_and_progress_does_not() -> None:
    log, recorded = BufferedLog(), RecordedLog()
    log.log("warning", "cast", worker=True)
    log.progress(AHEAD)
    log.attach(recorded)
    log.progress(AHEAD)
    log.log("info", "now")
    assert recorded.lines == [("warning", "cast", {"worker": True}), AHEAD, ("info", "now", {})]
