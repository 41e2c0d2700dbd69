"""The checked-in table is one that a run writes; each case compares itself with it (`conftest`)."""

from __future__ import annotations

from seeds.coverage import PAGE, parse, render
from seeds.recording import Finding, Outcome
from seeds.rows import ROWS


def test_a_page_lists_what_was_found() -> None:
    findings = [
        Finding(("A2",), "scaled", Outcome.RIGHT, "Dynamo"),
        Finding(("D3", "A1"), "baked", Outcome.REFUSED, "VerificationFailed", nightly=True),
        Finding((), "loose", Outcome.WRONG, "Trace"),
        Finding(("A2",), "old", Outcome.RIGHT, "Trace", pinned="opset 13"),
        Finding(("A2",), "script", Outcome.RIGHT, "Script", pinned="TorchScript"),
    ]
    page = render(findings)
    assert parse(page) == {finding.case: finding for finding in findings}
    assert "5 cases: 3 right, 1 refused by name, 1 wrong; 3 of" in page
    assert "1 cases need the TorchScript route" in page
    assert "1 more ask for an opset below 18, for which it is tried first, and 1 pin it." in page
    assert "| A1 | add |  | 1: VerificationFailed 1 |  |" in page


def test_the_page_was_not_edited_by_hand() -> None:
    listed = parse(PAGE.read_text())
    assert {row for finding in listed.values() for row in finding.rows} <= set(ROWS)
    assert PAGE.read_text() == render(listed.values()), "run make coverage"
