"""docs/lifecycle.md explains every reason why a ModelExport waits, in a row of a table."""

from __future__ import annotations

import re
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.waits import Wait

PAGE = (Path(__file__).parents[3] / "docs" / "lifecycle.md").read_text()
_OF_PHASE = {Wait.SUSPENDED}
"""Explained by the phase of the same name."""


def test_every_reason_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert {wait.value for wait in Wait} - set(rows) == set()
    explained = [row for row in rows if row in set(Wait) - _OF_PHASE]
    assert sorted(explained) == sorted(
        [*(wait.value for wait in Wait if wait not in _OF_PHASE), Wait.QUEUED.value]  # and a phase
    )


def test_what_an_export_waits_for_is_no_failure_unless_it_can_become_one() -> None:
    assert {wait.value for wait in Wait} & {reason.value for reason in Reason} == {
        "PodRejected",
        "PodCannotStart",
    }
