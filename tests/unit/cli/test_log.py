"""What the log prints to a pipe: messages, steps, results, and how much of a worker's output."""

from __future__ import annotations

import io

import pytest

from modelexport_api.items import ShareCounts
from modelexport_api.reasons import Reason
from modelexport_api.status import Failure, Progress, Stage
from modelexport_cli.log import WORKER_LINES, CommandLog, WorkerOutput, open_log


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def step(stage: Stage, percent: int, attempt: str | None = None) -> Progress:
    return Progress(stage=stage, percent=percent, message=f"at {percent}", attempt=attempt)


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


ATTEMPT = "attempt 1 of 3: Dynamo"
OTHER = "attempt 2 of 3: Trace"


def failed(reason: Reason = Reason.CAPTURE_FAILED) -> dict[str, object]:
    return {"failed": reason, "stage": Stage.CAPTURE, "seconds": 3.21}


def run_two_attempts(log: CommandLog, reason: Reason = Reason.CAPTURE_FAILED) -> None:
    log.progress(step(Stage.LOAD, 20, ATTEMPT))
    log.log("info", "printed", worker=True)
    log.log("warning", "Dynamo: CaptureFailed: in net.py:3", **failed(reason))
    log.progress(step(Stage.LOAD, 43, OTHER))
    log.log("warning", "Trace: CaptureFailed: in net.py:4", **failed())


def test_attempts_are_named_and_the_last_failure_is_left_to_the_summary(
    stream: io.StringIO,
) -> None:
    with open_log(stream) as log:
        run_two_attempts(log)
    assert stream.getvalue().splitlines() == [
        ATTEMPT,
        " 20 %  Load     at 20",
        f"✗ {ATTEMPT}: CaptureFailed in Capture after 3.2 s",
        OTHER,
        " 43 %  Load     at 43",
    ]


def test_everything_is_shown_if_that_is_asked_for(stream: io.StringIO) -> None:
    with open_log(stream, verbose=True) as log:
        run_two_attempts(log)
    assert stream.getvalue().splitlines() == [
        ATTEMPT,
        " 20 %  Load     at 20",
        "  | printed",
        "warning: Dynamo: CaptureFailed: in net.py:3",
        OTHER,
        " 43 %  Load     at 43",
        "warning: Trace: CaptureFailed: in net.py:4",
    ]


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (Reason.INTERNAL_ERROR, "  | printed"),
        (Reason.WORKER_DIED, "  | printed"),
        (Reason.FACTORY_FAILED, "1 line that the model's processes printed: --verbose shows them"),
    ],
)
def test_worker_output_is_shown_after_an_unexpected_end(
    stream: io.StringIO, reason: Reason, shown: str
) -> None:
    with open_log(stream) as log:
        log.log("info", "printed", worker=True)
        log.fail(Failure(reason=reason, message="no"))
    assert stream.getvalue().splitlines() == [shown]


def test_worker_output_of_an_attempt_that_died_is_shown(stream: io.StringIO) -> None:
    with open_log(stream) as log:
        run_two_attempts(log, Reason.WORKER_DIED)
    assert stream.getvalue().splitlines()[2] == "  | printed"


def test_a_stage_prints_what_it_found_in_one_line(stream: io.StringIO) -> None:
    with open_log(stream) as log:
        log.progress(step(Stage.FETCH, 0))
        log.log("info", "Fetch: 0.6 MB", stage=Stage.FETCH, result="0.6 MB", seconds=0.123)
    assert stream.getvalue().splitlines()[1:] == ["  0 %  Fetch    ✓ 0.6 MB (0.1 s)"]


def test_a_message_is_printed_once_and_in_one_line(stream: io.StringIO) -> None:
    with open_log(stream) as log:
        for _ in range(3):
            log.log("warning", "two\n  lines")
    assert stream.getvalue() == "warning: two lines\n"


def test_a_batch_prints_a_line_for_each_result(stream: io.StringIO) -> None:
    with open_log(stream) as log:
        log.progress(step(Stage.FETCH, 0), counts(0, 0))
        log.log("info", "printed for a", worker=True)
        log.log("info", "a.pt: Fetch: 1 MB", stage=Stage.FETCH, result="1 MB", seconds=1.0)
        log.log("info", "a.pt: verified", item=0, reason=None)
        log.progress(step(Stage.FETCH, 25), counts(1, 0))
        log.log("warning", "b.pt: StoreUnavailable: retrying")
        log.log("info", "printed for b", worker=True)
        log.log("warning", "b.pt: Dynamo: CaptureFailed: no", **failed())
        log.log("warning", "b.pt: CaptureFailed: no", item=1, reason=Reason.CAPTURE_FAILED)
        log.progress(step(Stage.FETCH, 50), counts(1, 1))
        log.log("info", "printed for c", worker=True)
        log.log("warning", "c.pt: WorkerDied: no", item=2, reason=Reason.WORKER_DIED)
    assert stream.getvalue().splitlines() == [
        "at 0",
        "✓ [1/4] a.pt: verified",
        "warning: b.pt: StoreUnavailable: retrying",
        "✗ [2/4] b.pt: CaptureFailed: no",
        "  | printed for c",
        "✗ [3/4] c.pt: WorkerDied: no",
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
