"""A batch on the terminal, in a pipe, as a status, and as the last table."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from modelexport_api.items import ShareCounts
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.spec import Mode
from modelexport_api.status import Failure, Phase, Progress, Stage
from modelexport_cli.batch_board import BatchBoard
from modelexport_cli.batch_console import BatchPlainLog
from modelexport_cli.batch_outcome import batch_status_of
from modelexport_cli.batch_verdict import print_batch
from modelexport_cli.manifest_file import resolve
from modelexport_exporter.batch.items import ItemResult
from modelexport_exporter.batch.results import Results
from unit.cli.test_terminal import in_terminal

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def counts(succeeded: int, failed: int) -> ShareCounts:
    return ShareCounts(
        share=0,
        batch_total=4,
        share_total=4,
        succeeded=succeeded,
        failed=failed,
        reasons={"CheckpointCorrupt": failed} if failed else {},
        results_uri="s3://o/batches/x/results.json",
    )


def too_many() -> Failure:
    return Failure(reason=Reason.TOO_MANY_FAILED, message="1 of 4 failed", hint="Look.")


def ended(failed: int, failure: Failure | None = None) -> PodResult:
    return PodResult(
        outcome="Failed" if failure else "Succeeded",
        failure=failure,
        share=counts(4 - failed, failed),
        report_uri="file:///o/batches/x/index.html",
    )


def results(failed: int, total: int = 4) -> Results:
    items = [
        ItemResult(
            index=index,
            name=f"fold-{index}.pt",
            uri=f"s3://b/fold-{index}.pt",
            destination="s3://o/",
            outcome="Failed" if index < failed else "Succeeded",
            reason=Reason.CHECKPOINT_CORRUPT if index < failed else None,
            message="no zip archive" if index < failed else "",
            limit_share=None if index < failed else index / 100,
            seconds=1.5,
        )
        for index in range(total)
    ]
    return Results(
        name="folds", total=total, succeeded=total - failed, failed=failed, pending=0, items=items
    )


@pytest.mark.parametrize(
    ("result", "mode", "phase", "reasons"),
    [
        (
            ended(0),
            Mode.EXPORT,
            Phase.SUCCEEDED,
            ["Exported", "Verified", "Published", "Published"],
        ),
        (
            ended(1),
            Mode.EXPORT,
            Phase.SUCCEEDED,
            [f"Partially{word}" for word in ("Exported", "Verified", "Published", "Published")],
        ),
        (ended(1, too_many()), Mode.EXPORT, Phase.FAILED, ["TooManyFailed"] * 4),
        (
            ended(0),
            Mode.VERIFY,
            Phase.SUCCEEDED,
            ["NotRequested", "Verified", "NotRequested", "Verified"],
        ),
    ],
)
def test_the_status_that_the_resource_would_get(
    result: PodResult, mode: Mode, phase: Phase, reasons: list[str]
) -> None:
    status = batch_status_of(result, NOW, NOW, 1, mode)
    assert status.phase is phase
    assert [condition.reason for condition in status.conditions] == reasons
    assert status.conditions[-1].status == "True"
    assert status.items is not None
    assert status.items.total == 4
    assert status.items.results_uri == "s3://o/batches/x/results.json"


def test_a_batch_that_did_not_begin_has_no_items() -> None:
    failure = Failure(reason=Reason.NOTHING_MATCHED, message="nothing", hint="look")
    result = PodResult(outcome="Failed", failure=failure)
    status = batch_status_of(result, NOW, NOW, 1)
    assert status.items is None
    assert {condition.message for condition in status.conditions} == {"nothing"}


def test_the_board_counts() -> None:
    progress = Progress(stage=Stage.VERIFY, percent=40, message="fold-2.pt (2 of 4): comparing")
    board = BatchBoard().moved(progress, counts(1, 1))
    assert (board.total, board.done, board.verified, board.failed) == (4, 2, 1, 1)
    assert board.moved(progress, None).done == 2
    assert not board.ended().message


def test_a_pipe_gets_a_line_for_each_answer() -> None:
    stream = io.StringIO()
    log = BatchPlainLog(stream)
    log.progress(Progress(stage=Stage.FETCH, percent=0, message="4 of 4 here"), counts(0, 0))
    log.log("info", "printed by a model", worker=True)
    log.log("info", "a.pt: verified", item=0)
    log.progress(Progress(stage=Stage.FETCH, percent=25, message="1 of 4"), counts(1, 0))
    log.log("info", "printed by another", worker=True)
    log.log("warning", "b.pt: StoreUnavailable: tried again")
    log.log("warning", "b.pt: CheckpointCorrupt: no", item=1)
    assert stream.getvalue().splitlines() == [
        "4 of 4 here",
        "[1/4] a.pt: verified",
        "warning: b.pt: StoreUnavailable: tried again",
        "  | printed by another",
        "[2/4] b.pt: CheckpointCorrupt: no",
    ]


def shown(result: PodResult, found: Results | None) -> list[str]:
    stream = io.StringIO()
    print_batch(result, found, 12.5, stream, "folds")
    return stream.getvalue().splitlines()


def test_the_worst_is_on_top_of_the_table() -> None:
    lines = shown(ended(1, too_many()), results(1))
    assert lines[0][2:] == "Failed    folds: TooManyFailed, after 12.5 s"
    rows = [line for line in lines if "fold-" in line]
    assert [row.split()[0] for row in rows] == [f"fold-{n}.pt" for n in (0, 3, 2, 1)]
    assert "CheckpointCorrupt" in rows[0]
    assert "no zip archive" in rows[0]
    assert "  Index     /o/batches/x/index.html" in lines
    assert "  Results   s3://o/batches/x/results.json" in lines


def test_partial_success_is_told_as_such() -> None:
    assert "Partly" in shown(ended(1), results(1))[0]
    assert "3 of 4 checkpoints of folds" in shown(ended(1), results(1))[0]
    assert "Verified" in shown(ended(0), results(0))[0]


def test_a_thousand_rows_are_not_printed() -> None:
    lines = shown(ended(0), results(0, 1000))
    assert len(lines) < 30
    assert any("985 more, which did better" in line for line in lines)


def test_every_uri_of_a_list_is_resolved() -> None:
    spec = {"source": {"uris": ["file://./a.pt", "s3://b/c.pt"]}}
    found = resolve(spec, Path("/m"))
    assert found == {"source": {"uris": ["file:///m/a.pt", "s3://b/c.pt"]}}


PROGRAM = """
import sys, time
from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_cli.batch_console import log_to

with log_to(sys.stderr) as log:
    for done in range(5):
        share = ShareCounts(share=0, batch_total=4, share_total=4, succeeded=max(0, done - 1),
                            failed=min(done, 1))
        message = f"fold-{done}.pt ({done + 1} of 4): comparing"
        log.progress(Progress(stage=Stage.VERIFY, percent=25 * done, message=message), share)
        time.sleep(0.2)
        log.log("info", f"said by {done}", worker=True)
        if done < 4:
            said = "verified, 2 s" if done else "Corrupt: " + "no good " * 90
            log.log("info" if done else "warning", f"fold-{done}.pt: {said}", item=done)
"""


@pytest.mark.parametrize("columns", [50, 100])
def test_a_terminal_shows_a_bar_over_all_and_the_answers(columns: int) -> None:
    text = in_terminal("-c", PROGRAM, columns=columns).text
    assert "✗ fold-0.pt  Corrupt: no good" in text
    assert "✓ fold-3.pt  verified, 2 s" in text
    assert "fold-2.pt (3 of 4): comparing" in text
    assert "said by 0" in text, "it failed"
    assert "said by 2" not in text
    last = [line for line in text.splitlines() if "verified, 1 failed of 4" in line][-1]
    assert "100 %  3 verified, 1 failed of 4" in last
    assert "─" not in last, "the bar is full"
