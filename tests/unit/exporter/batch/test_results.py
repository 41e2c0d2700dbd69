"""Results as JSON and CSV, and that the last pod to end leaves all answers."""

from __future__ import annotations

import csv
import io
import json
import threading
from pathlib import Path

import pytest

from batches import batch, failed, verified
from modelexport_api.items import ShareCounts
from modelexport_api.pod import MAX_TERMINATION_BYTES, PodResult, encode_termination
from modelexport_api.reasons import Reason
from modelexport_exporter.batch.item_result import ItemResult, badness, finished_result
from modelexport_exporter.batch.journal import JournalWriter
from modelexport_exporter.batch.max_failed import apply_max_failed
from modelexport_exporter.batch.plan import Planned, make_plan
from modelexport_exporter.batch.publish_results import publish_results
from modelexport_exporter.batch.results import (
    COLUMNS,
    Results,
    counts_of,
    results_of,
    table_of,
)
from modelexport_exporter.core.log import JsonLog


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    (tmp_path / "run").mkdir()
    for number in range(6):
        (tmp_path / f"run/fold-{number}.pt").write_bytes(b"x" * number)
    source = {"uri": f"file://{tmp_path}/run/*.pt"}
    return make_plan(batch(source, f"file://{tmp_path}/onnx/{{stem}}/", parallelism=3, uid="u"), 3)


def answers(planned: Planned, share: int | None = None) -> list[ItemResult]:
    found = []
    for item in planned.plan.items:
        result = verified(planned.item(item), share=item.index / 10)
        if item.index == 4:
            result = failed(Reason.CHECKPOINT_CORRUPT, "=cmd|' /C calc'!A0")
        if share in {None, item.share}:
            found.append(finished_result(item, result, 1.234, 1))
    return found


def test_a_row_for_every_checkpoint_tried_or_not(planned: Planned) -> None:
    results = results_of(planned, answers(planned)[:5])
    assert (results.total, results.succeeded, results.failed, results.pending) == (6, 4, 1, 1)
    assert results.reasons == {"CheckpointCorrupt": 1}
    assert Results.model_validate_json(results.encode()) == results
    [first, *_] = json.loads(results.encode())["items"]
    assert first["artifactUri"].endswith("/onnx/fold-0/model.onnx")
    assert first["verdict"] == "Verified"
    assert (first["limitShare"], first["seconds"], first["reused"]) == (0.0, 1.23, False)


def test_the_table_has_the_same_rows_and_no_formulas(planned: Planned) -> None:
    table = table_of(results_of(planned, answers(planned))).decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == 6
    assert len(rows[0]) == len(COLUMNS)
    assert rows[4]["reason"] == "CheckpointCorrupt"
    assert rows[4]["message"].startswith("'=cmd")
    assert rows[0]["uri"].endswith("fold-0.pt")


def test_the_worst_first(planned: Planned) -> None:
    results = results_of(planned, answers(planned)[:5])
    order = [item.index for item in sorted(results.items, key=badness)]
    assert order == [4, 5, 3, 2, 1, 0], "failed, not tried, then by the share of the limit"


def test_counts_fit_into_a_termination_message(planned: Planned) -> None:
    every = [
        finished_result(item, failed(reason, "x" * 2048), 1.0, 3)
        for item, reason in zip(planned.plan.items, Reason, strict=False)
    ]
    counts = counts_of(planned, 0, every, running=1)
    assert counts.failed == 6
    text = encode_termination(PodResult(outcome="Succeeded", share=counts, report_uri="s3://x/y"))
    assert len(text.encode()) < MAX_TERMINATION_BYTES
    assert ShareCounts.model_validate_json(counts.model_dump_json(by_alias=True)) == counts


@pytest.mark.parametrize(
    ("allowed", "outcome"), [(0, "Failed"), (1, "Succeeded"), (9, "Succeeded")]
)
def test_as_many_may_fail_as_the_spec_says(planned: Planned, allowed: int, outcome: str) -> None:
    counts = counts_of(planned, 0, answers(planned))
    result = apply_max_failed(PodResult(outcome="Succeeded", share=counts), allowed)
    assert result.outcome == outcome
    if outcome == "Failed":
        assert result.failure is not None
        assert result.failure.reason is Reason.TOO_MANY_FAILED
        assert int(result.exit_code) == 19
        assert result.failure.message.startswith("1 of 6 checkpoints failed, none may")
        assert "fold-4.pt" in result.failure.message


def test_the_share_that_ends_last_leaves_all_answers(planned: Planned, tmp_path: Path) -> None:
    """Three pods end at the same moment, many times over."""
    log = JsonLog((tmp_path / "log").open("w"))

    def pod(share: int, start: threading.Barrier) -> None:
        journal = JournalWriter(planned.directory, share, log)
        for result in answers(planned, share):
            journal.record(result)
        start.wait()
        journal.flush()
        publish_results(planned, lambda _seconds: None)

    directory = Path(planned.directory.key)
    for _ in range(20):
        for path in directory.glob("**/*"):
            if path.is_file() and path.name != "plan.json":
                path.unlink()
        start = threading.Barrier(3)
        pods = [threading.Thread(target=pod, args=(share, start)) for share in range(3)]
        for thread in pods:
            thread.start()
        for thread in pods:
            thread.join()
        results = Results.model_validate_json((directory / "results.json").read_bytes())
        assert (results.succeeded, results.failed, results.pending) == (5, 1, 0)
        assert (directory / "results.csv").read_bytes() == table_of(results)
        page = (directory / "index.html").read_text()
        assert page.count("Verified</span>") == 5
