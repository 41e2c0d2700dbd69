"""Label selectors: as text for the API server, and in Python for the CLI."""

from __future__ import annotations

import pytest

from modelexport_api.trigger import TriggerSource
from modelexport_operator.triggers.selection import label_selector, selects

EXPRESSIONS = [
    {"key": "team", "operator": "In", "values": ["a", "b"]},
    {"key": "tier", "operator": "NotIn", "values": ["test"]},
    {"key": "model", "operator": "Exists"},
    {"key": "debug", "operator": "DoesNotExist"},
]


def source(kind: str = "RayJob", **selector: object) -> TriggerSource:
    return TriggerSource.model_validate({"kind": kind, "selector": selector})


def test_label_selector() -> None:
    found = label_selector(source(matchLabels={"app": "x"}, matchExpressions=EXPRESSIONS))
    assert found == "app=x,team in (a,b),tier notin (test),model,!debug"


def test_jobs_of_exports_are_never_selected() -> None:
    assert label_selector(source("Job")) == "!modelexport.dev/uid"
    assert not selects(source("Job"), {"modelexport.dev/uid": "x"})
    assert label_selector(source("JobSet")) == ""


@pytest.mark.parametrize(
    ("labels", "selected"),
    [
        ({"app": "x", "team": "a", "model": ""}, True),
        ({"app": "x", "team": "b", "model": "", "tier": "prod"}, True),
        ({"app": "y", "team": "a", "model": ""}, False),
        ({"app": "x", "team": "c", "model": ""}, False),
        ({"app": "x", "model": ""}, False),
        ({"app": "x", "team": "a", "model": "", "tier": "test"}, False),
        ({"app": "x", "team": "a"}, False),
        ({"app": "x", "team": "a", "model": "", "debug": ""}, False),
    ],
)
def test_selection(labels: dict[str, str], selected: bool) -> None:
    chosen = source(matchLabels={"app": "x"}, matchExpressions=EXPRESSIONS)
    assert selects(chosen, labels) is selected


def test_an_empty_selector_selects_all() -> None:
    assert selects(source(), {})
