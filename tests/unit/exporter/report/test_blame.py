"""The node where the file first differs, in words."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_exporter.report.blame import culprit_of
from modelexport_exporter.report.verdict import verdict_of
from unit.exporter.report.reports import (
    compared,
    failed,
    sample,
    verification,
)


@pytest.mark.parametrize(
    ("blame", "lead", "labels"),
    [
        pytest.param(
            {"node": "n", "op": "Conv", "source": "m.py:3", "errorAfter": 0.4, "proven": True},
            "the rest of the file matches",
            ["Node", "Source", "Relative error of its output"],
            id="proven",
        ),
        pytest.param(
            {"node": "n", "op": "Conv", "module": "a.b"},
            "could not be proven",
            ["Node", "Module"],
            id="likely",
        ),
        pytest.param({"optimization": "extended"}, "The file itself matches", [], id="runtime's"),
        pytest.param({"whyNot": "too large"}, "No single node", [], id="none"),
    ],
)
def test_the_node_to_blame(blame: dict[str, Any], lead: str, labels: list[str]) -> None:
    found = culprit_of(failed("VerificationFailed", blame=blame))
    assert found is not None
    assert lead in found.lead
    assert [term.label for term in found.terms] == labels
    assert found.without == blame.get("whyNot", "")


def test_without_a_search_nobody_is_to_blame() -> None:
    assert culprit_of(failed("VerificationFailed")) is None


def test_a_mismatch_counts_the_samples_that_differ() -> None:
    found = verdict_of(
        failed(
            "VerificationFailed",
            verification=verification(verdict="Mismatch"),
            samples=[
                sample(compared("y", 1.0, problem="off")),
                sample(compared("y", 0.0), batch=2),
            ],
        )
    )
    facts = {fact.label: fact.more for fact in found.facts}
    assert facts["Samples"] == "1 of 2 differ"
