"""The checked-in table is what a run finds. Runs after all cases (`conftest`)."""

from __future__ import annotations

import os

from seeds.coverage import PAGE, parse, render
from seeds.recording import Finding, Outcome, Recorder
from seeds.rows import ROWS

WRITE = os.environ.get("MODELEXPORT_COVERAGE", "")
"""`all`: the page is what this run found; `merge`: only the cases that ran change."""


def test_a_page_says_what_was_found() -> None:
    findings = [
        Finding(("A2",), "scaled", Outcome.RIGHT, "Dynamo"),
        Finding(("D3", "A1"), "baked", Outcome.REFUSED, "VerificationFailed", nightly=True),
        Finding((), "loose", Outcome.WRONG, "Trace"),
    ]
    page = render(findings)
    assert parse(page) == {finding.case: finding for finding in findings}
    assert "3 cases: 1 right, 1 refused by name, 1 wrong; 3 of" in page
    assert "| A1 | add |  | 1: VerificationFailed 1 |  |" in page


def test_the_table_is_true(recorder: Recorder) -> None:
    known = {} if WRITE == "all" else parse(PAGE.read_text()) if PAGE.exists() else {}
    now = known | recorder.findings
    unknown = {row for finding in now.values() for row in finding.rows} - set(ROWS)
    assert not unknown, "these rows do not exist"
    if WRITE:
        PAGE.write_text(render(now.values()))
        return
    assert PAGE.read_text() == render(known.values()), "edited by hand: run make coverage"
    changed = [f for f in recorder.findings.values() if known.get(f.case) != f]
    assert not changed, "docs/coverage.md says otherwise: run make coverage"
