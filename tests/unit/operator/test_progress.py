"""What a pod's log tells, whatever a library prints in between."""

from __future__ import annotations

import json

from modelexport_api.status import Progress, Stage
from modelexport_operator.observe import LogTail
from modelexport_operator.progress import parse_tail


def line(stage: Stage | None = None, percent: int = 0, **fields: object) -> str:
    progress = {"stage": stage, "percent": percent} if stage else None
    entry = {"time": "t", "level": "info", "message": "m", "fields": fields, "progress": progress}
    return json.dumps(entry)


def test_the_last_progress_and_the_last_peak_count() -> None:
    text = "\n".join(
        [
            line(Stage.LOAD, 20, peakMemoryBytes=100),
            "UserWarning: something",
            line(Stage.VERIFY, 80),
            line(peakMemoryBytes=300),
            '{"time": "t", "level": "info", "mess',
        ]
    )
    assert parse_tail(text) == LogTail(Progress(stage=Stage.VERIFY, percent=80), 300)


def test_a_peak_that_is_no_memory_is_ignored() -> None:
    """The model's own code writes to the same log."""
    text = "\n".join([line(peakMemoryBytes=300), line(peakMemoryBytes=10**400)])
    assert parse_tail(text).peak_memory_bytes == 300


def test_a_log_without_a_word_for_us_tells_nothing() -> None:
    assert parse_tail("Segmentation fault\n{}\n") == LogTail()
