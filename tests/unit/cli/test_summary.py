"""The summary that `modelexport run` prints at the end."""

from __future__ import annotations

import io

from modelexport_api.isolation import IsolationInForce, Network
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_cli.summary import print_summary
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.batch.results import Results
from unit.cli.results import FAILED, SUCCEEDED, TOO_MANY, batch


def summary(result: PodResult, results: Results | None = None) -> list[str]:
    stream = io.StringIO()
    print_summary(result, results, 12.34, stream, "m")
    return stream.getvalue().splitlines()


def test_a_success_shows_verdict_artifact_and_reports() -> None:
    assert summary(SUCCEEDED) == [
        "✓ Verified  m in 12.3 s",
        "  Error     at most 1/4 of the tolerance (2.0e-7 relative)",
        "  Samples   8 on CPU, all agree with eager PyTorch",
        "  Artifact  /home/me/a model/model.onnx",
        "            2.5 MB, opset 20, Dynamo (torch 2.15.0)",
        "  Report    /home/me/a model/report.html",
        "            /home/me/a model/report.json",
    ]


def test_a_success_shows_what_was_covered_and_what_was_not_compared() -> None:
    assert SUCCEEDED.verification is not None
    more = {"coverage": ["all 7 sizes of n"], "not_compared": ["output boxes had no elements"]}
    verification = SUCCEEDED.verification.model_copy(update=more)
    lines = summary(SUCCEEDED.model_copy(update={"verification": verification}))
    assert lines[3:5] == [
        "            all 7 sizes of n",
        "  Untested  output boxes had no elements",
    ]


def test_what_was_not_in_force_is_shown() -> None:
    assert SUCCEEDED.verification is not None
    isolation = IsolationInForce(network=Network.OPEN, missing=["files: no Landlock"])
    verification = SUCCEEDED.verification.model_copy(update={"isolation": isolation})
    lines = summary(SUCCEEDED.model_copy(update={"verification": verification}))
    assert lines[3] == "  Isolation not in force: files: no Landlock"


def test_a_failure_shows_reason_message_hint_and_reports() -> None:
    assert summary(FAILED) == [
        "✗ Failed    m: VerificationFailed in Verify, after 12.3 s",
        "  Message   off",
        "  Hint      look",
        "  More      modelexport explain VerificationFailed",
        "  Report    s3://b/out/failed/m-0/report.html",
        "            s3://b/out/failed/m-0/report.json",
    ]


def test_a_stream_without_unicode_gets_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print_summary(FAILED, None, 12.34, stream, "m")
    stream.seek(0)
    assert stream.read().startswith("x Failed    m: VerificationFailed")


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


def test_a_failed_batch_shows_its_worst_checkpoints_first() -> None:
    lines = summary(batch(1, TOO_MANY), results(1))
    assert lines[0] == "✗ Failed    m: TooManyFailed, after 12.3 s"
    rows = [line for line in lines if "fold-" in line]
    assert [row.split()[0] for row in rows] == [f"fold-{n}.pt" for n in (0, 3, 2, 1)]
    assert "CheckpointCorrupt" in rows[0]
    assert "no zip archive" in rows[0]
    assert "  Report    /o/batches/x/index.html" in lines
    assert "  Results   s3://o/batches/x/results.json" in lines


def test_a_batch_with_failed_checkpoints_is_a_partial_success() -> None:
    assert summary(batch(1), results(1))[0] == "✓ Partial   3 of 4 checkpoints of m in 12.3 s"
    assert summary(batch(0), results(0))[0] == "✓ Verified  4 of 4 checkpoints of m in 12.3 s"


def test_of_a_thousand_checkpoints_only_the_worst_are_printed() -> None:
    lines = summary(batch(0), results(0, 1000))
    assert len(lines) < 30
    assert "… 985 more with smaller errors" in lines
