from __future__ import annotations

import json

import pytest

from modelexport_cli.cluster.export import Export
from modelexport_cli.cluster.summary import print_end, seconds_of
from unit.cli.cluster.objects import BATCH, complete, failed

TIMES = {"startTime": "2026-01-02T03:04:05Z", "completionTime": "2026-01-02T03:04:17Z"}
ITEMS = {
    "total": 3,
    "succeeded": 2,
    "failed": 1,
    "reasons": {"DiskFull": 1},
    "resultsUri": "s3://b/results.json",
}
VERIFICATION = {
    "verdict": "Verified",
    "provider": "CPU",
    "samples": 12,
    "maxAbsError": 1e-6,
    "maxRelError": 1e-6,
    "toleranceSource": "Default",
}


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (
            complete({**TIMES, "verification": VERIFICATION, "reportUri": "s3://b/report.json"}),
            ["Verified  digits in 12", "12 on CPU, all agree", "s3://b/report.html"],
        ),
        (failed(stage="Verify"), ["digits: VerificationFailed in Verify", "it differs", "do so"]),
        (
            complete({**TIMES, "items": ITEMS, "reportUri": "s3://b/index.html"}, source=BATCH),
            ["Partial", "2 of 3 checkpoints of digits in 12 s", "1 DiskFull", "s3://b/index.html"],
        ),
        (
            complete({"items": {"total": 3, "succeeded": 3}}, source=BATCH),
            ["Verified", "3 of 3 checkpoints"],
        ),
    ],
)
def test_the_summary_is_that_of_run(
    ended: Export, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    print_end(ended, "text")
    out = capsys.readouterr().out
    for text in words:
        assert text in out


def test_json_is_the_status_as_it_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    ended = complete({**TIMES, "fieldOfANewerVersion": 1})
    print_end(ended, "json")
    assert json.loads(capsys.readouterr().out) == ended.raw["status"]


def test_an_export_that_never_started_took_no_time() -> None:
    assert seconds_of(failed()) == 0
