"""Damaged files are caught, whole ones are not refused, and docs/mutants.md says what happens.

By default two mutants of every third model are judged again, those of the page; at night two of
each model, and the whole suite, which decides anew which mutants count.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants.crew import full_run, processes
from mutants.mutations import CONTROL, OPERATORS
from mutants.page import PAGE, Listed, errs_more_than_a_right_file_may, parse
from mutants.plan import EACH
from mutants.study import judge_again
from mutants.subjects import SUBJECTS

NAMES = [subject.name for subject in SUBJECTS]
BY_DAY = [name for name in NAMES[::3] if name != "minilm"]
"""Models that are judged by default; minilm is large, and `encoder` has the same layers."""
AGAIN = 2
"""Mutants of each model that are judged by default."""


def listed(name: str) -> list[Listed]:
    """Return the page's mutants of a model that are judged again: as unlike as there are."""
    own = [entry for entry in listed_all() if entry.subject == name]
    return own[:: len(own) // AGAIN][:AGAIN]


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name not in BY_DAY)) for name in NAMES],
)
def test_mutants_are_caught_as_the_page_says(name: str, tmp_path: Path) -> None:
    again = [(entry.operator, entry.where) for entry in listed(name)]
    with processes(1) as pool:
        report = pool.submit(judge_again, name, tmp_path, again).result()
    assert [whole.ours.why for whole in report.wholes if whole.ours.refused] == []
    found = {finding.mutant.name: finding.ours for finding in report.findings}
    said = {f"{entry.operator} {entry.where}": entry.caught for entry in listed(name)}
    assert {mutant: opinion.refused for mutant, opinion in found.items()} == said


def test_the_page_reports_300_mutants_of_30_models_and_99_percent_caught() -> None:
    entries = listed_all()
    assert len(entries) == EACH * len(SUBJECTS) == 300
    assert {entry.subject for entry in entries} == set(NAMES)
    assert {entry.operator for entry in entries} == set(OPERATORS) - {CONTROL}
    told = [entry for entry in entries if entry.tellable]
    assert len(told) >= 0.97 * len(entries)
    assert sum(entry.caught for entry in told) >= 0.99 * len(told)
    # Of those that err no more than a right file may, nothing can be known.
    assert sum(entry.caught for entry in entries) >= 0.98 * len(entries)


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_the_whole_suite() -> None:
    reports = full_run(NAMES, EACH, lambda _report: None)
    wholes = [whole for report in reports for whole in report.wholes]
    assert [whole for whole in wholes if whole.ours.refused] == []
    findings = [finding for report in reports for finding in report.findings]
    assert len(findings) == EACH * len(SUBJECTS)
    told = [finding for finding in findings if errs_more_than_a_right_file_may(finding)]
    caught = [finding for finding in told if finding.ours.refused]
    assert len(caught) >= 0.99 * len(told)
    assert len(caught) > max(
        sum(finding.optimum.refused for finding in findings),
        sum(finding.verify_true.refused for finding in findings),
    )
    page = {(entry.subject, entry.operator, entry.where): entry.caught for entry in listed_all()}
    for finding in findings:
        key = (finding.subject, finding.mutant.operator, finding.mutant.where)
        assert page.get(key, finding.ours.refused) == finding.ours.refused, key


def listed_all() -> list[Listed]:
    """Return every mutant of the page."""
    return parse(PAGE.read_text())
