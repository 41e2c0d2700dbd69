"""What the log prints to a pipe: messages, steps, results, and how much of a worker's output."""

from __future__ import annotations

import io

import pytest

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_cli.log import WORKER_LINES, WorkerOutput, open_log


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def step(stage: Stage, percent: int) -> Progress:
    return Progress(stage=stage, percent=percent, message=f"at {percent}")


def counts(succeeded: int, failed: int) -> ShareCounts:
    return ShareCounts(share=0, batch_total=4, share_total=4, succeeded=succeeded, failed=failed)


def test_a_pipe_gets_a_line_for_each_step_and_message(stream: io.StringIO) -> None:
    with open_log(stream) as log:
        log.progress(step(Stage.LOAD, 20))
        log.log("info", "a message " * 20)
        log.log("warning", "a [bold]warning[/]")
    assert stream.getvalue().splitlines() == [
        " 20 %  Load     at 20",
        "a message " * 20,
        "warning: a [bold]warning[/]",
    ]


def test_worker_output_is_printed_before_the_next_message_attempt_or_end(
    stream: io.StringIO,
) -> None:
    with open_log(stream) as log:
        log.log("info", "first", worker=True)
        log.progress(step(Stage.LOAD, 20))
        log.progress(step(Stage.VERIFY, 70))
        log.log("warning", "failed")
        log.log("info", "second", worker=True)
        log.progress(step(Stage.LOAD, 70))
        log.log("info", "third", worker=True)
    assert stream.getvalue().splitlines() == [
        " 20 %  Load     at 20",
        " 70 %  Verify   at 70",
        "  | first",
        "warning: failed",
        "  | second",
        " 70 %  Load     at 70",
        "  | third",
    ]


def test_a_batch_prints_a_line_for_each_result(stream: io.StringIO) -> None:
    with open_log(stream) as log:
        log.progress(step(Stage.FETCH, 0), counts(0, 0))
        log.log("info", "printed for a", worker=True)
        log.log("info", "a.pt: verified", item=0)
        log.progress(step(Stage.FETCH, 25), counts(1, 0))
        log.log("warning", "b.pt: StoreUnavailable: retrying")
        log.log("info", "printed for b", worker=True)
        log.log("warning", "b.pt: CheckpointCorrupt: no", item=1)
        log.log("info", "printed at the end", worker=True)
    assert stream.getvalue().splitlines() == [
        "at 0",
        "✓ [1/4] a.pt: verified",
        "warning: b.pt: StoreUnavailable: retrying",
        "  | printed for b",
        "✗ [2/4] b.pt: CheckpointCorrupt: no",
    ]


def test_only_the_last_lines_of_a_worker_are_kept() -> None:
    output = WorkerOutput()
    for number in range(500):
        output.add(f"node {number}")
    first, *lines = output.take()
    assert first == f"… {500 - WORKER_LINES} lines omitted"
    assert lines == [f"node {number}" for number in range(500 - WORKER_LINES, 500)]
    assert output.take() == []


def test_few_lines_of_a_worker_are_all_kept() -> None:
    output = WorkerOutput()
    output.add("one")
    output.add("two")
    assert output.take() == ["one", "two"]
