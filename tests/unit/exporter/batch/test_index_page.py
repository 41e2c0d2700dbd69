"""The page of all verdicts: what is on it, and in which order."""

from __future__ import annotations

import re
import time

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.batch.index_page import link_to, page_of, render
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.batch.results import Results, reasons_of

DIRECTORY = "s3://o/onnx/batches/folds-abc/"


def item(index: int, **fields: object) -> ItemResult:
    name = fields.pop("name", f"fold-{index}.pt")
    known = {
        "index": index,
        "name": name,
        "uri": f"s3://b/run/{name}",
        "destination": f"s3://o/onnx/fold-{index}/",
        "outcome": "Succeeded",
        "limit_share": index / 1000,
        "seconds": 1.5,
        "report_uri": f"s3://o/onnx/fold-{index}/report.json",
        **fields,
    }
    return ItemResult.model_validate(known)


def results(*items: ItemResult, max_failed: int = 0) -> Results:
    outcomes = [entry.outcome for entry in items]
    return Results(
        name="folds",
        total=len(items),
        succeeded=outcomes.count("Succeeded"),
        failed=outcomes.count("Failed"),
        pending=outcomes.count("Pending"),
        reasons=reasons_of(list(items)),
        max_failed=max_failed,
        items=list(items),
    )


def test_the_worst_is_on_top() -> None:
    bad = item(2, outcome="Failed", reason=Reason.CHECKPOINT_CORRUPT, message="no `zip`")
    found = results(item(0), item(1), bad, item(3), item(4, outcome="Pending"))
    page = page_of(found, DIRECTORY)
    names = ["fold-2.pt", "fold-4.pt", "fold-3.pt", "fold-1.pt", "fold-0.pt"]
    assert [row.name for row in page.rows] == names
    assert page.tone == "bad"
    assert page.word == "3 of 5 verified"
    assert page.sentence == (
        "The batch failed: 1\N{NO-BREAK SPACE}checkpoint failed (1 × CheckpointCorrupt), and none "
        "may (spec.maxFailed). Those that verified are published. The others are still pending, or "
        "the batch was stopped."
    )
    html = render(found, DIRECTORY).decode()
    assert "no <code>zip</code>" in html
    assert html.index("fold-2.") < html.index("fold-4.")


@pytest.mark.parametrize(
    ("failed", "allowed", "tone", "said"),
    [
        (0, 0, "good", "on its own weights"),
        (1, 0, "bad", "The batch failed: .* none may"),
        (2, 1, "bad", "The batch failed: .* 1 may"),
        (2, 2, "again", "2 may .*: the batch succeeded"),
    ],
)
def test_the_banner_is_that_of_the_batch(failed: int, allowed: int, tone: str, said: str) -> None:
    items = [
        item(at, outcome="Failed", reason=Reason.CAPTURE_FAILED) if at < failed else item(at)
        for at in range(4)
    ]
    page = page_of(results(*items, max_failed=allowed), DIRECTORY)
    assert page.tone == tone
    assert re.search(said, page.sentence)


@pytest.mark.parametrize(
    ("report", "directory", "expected"),
    [
        ("s3://o/onnx/a/report.json", DIRECTORY, "../../a/report.html"),
        ("s3://o/onnx/a b/50%#?/report.json", DIRECTORY, "../../a%20b/50%25%23%3F/report.html"),
        (
            "s3://o/onnx/a/failed/folds-1/report.json",
            DIRECTORY,
            "../../a/failed/folds-1/report.html",
        ),
        (
            "file:///o/my%20model/report.json",
            "file:///o/batches/x/",
            "../../my%20model/report.html",
        ),
        ("s3://elsewhere/a/report.json", DIRECTORY, ""),
        (None, DIRECTORY, ""),
    ],
)
def test_reports_are_linked_relatively(report: str | None, directory: str, expected: str) -> None:
    assert link_to(report, directory) == expected


def test_nothing_that_a_checkpoint_says_is_taken_for_html() -> None:
    evil = '"><script>alert(1)</script>'
    found = results(
        item(0, name=evil, outcome="Failed", message=evil, reason=Reason.CAPTURE_FAILED)
    )
    html = render(found, DIRECTORY).decode()
    assert html.count("<script>") == 1, "its own"
    assert "alert(1)" in html


def test_an_infinite_error_sorts_last_and_is_shown() -> None:
    found = results(item(0, outcome="Failed", limit_share="inf", reason=Reason.VERIFICATION_FAILED))
    [row] = page_of(found, DIRECTORY).rows
    assert row.error == "beyond any tolerance"
    assert row.error_key == 1e300


def test_nothing_is_loaded_and_one_script_is_allowed() -> None:
    html = render(results(item(0)), DIRECTORY).decode()
    assert "default-src 'none'" in html
    assert len(re.findall(r"script-src 'sha256-[\w+/]{43}='", html)) == 1
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", html)


def test_a_thousand_rows_are_small_and_fast() -> None:
    started = time.monotonic()
    page = render(results(*(item(index) for index in range(1000))), DIRECTORY)
    assert time.monotonic() - started < 5
    assert len(page) < 1_200_000
    assert page.count(b"<tr") == 1001
