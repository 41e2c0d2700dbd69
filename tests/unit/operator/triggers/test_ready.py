"""The condition Ready: what keeps a trigger from working, and when its time moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind
from modelexport_operator.triggers.ready import Readiness, judged, with_readiness
from unit.api.trigger_manifests import OWN, changed
from unit.operator.triggers.trainings import trigger

NOW = datetime(2026, 5, 2, tzinfo=UTC)
YES = Readiness("True", "Watching", "watching jobs")
BROKEN = changed("template.spec.source", {"uri": "s3://$("})["spec"]["template"]
FIELD = {**OWN, "success": {"field": {"path": ".status..phase", "value": "x"}}}


def test_a_right_trigger_watches_its_kind() -> None:
    found = judged(trigger(), TriggerSettings())
    assert isinstance(found, WatchedKind)
    assert found.resource == "jobs"


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"suspend": True}, "Suspended", "spec.suspend is true"),
        ({"template": BROKEN}, "TemplateInvalid", "spec.template.spec.source.uri: $("),
        ({"source": FIELD}, "TemplateInvalid", "spec.source.success.field.path: '..'"),
        ({"source": OWN}, "KindNotEnabled", "Training of example.com/v1: add it to triggers"),
        ({"suspend": True, "template": BROKEN}, "Suspended", ""),
    ],
    ids=["suspended", "expression", "path", "kind", "two at once"],
)
def test_what_keeps_it_from_working(spec: dict[str, Any], reason: str, words: str) -> None:
    found = judged(trigger(**spec), TriggerSettings())
    assert isinstance(found, Readiness)
    assert (found.status, found.reason) == ("False", reason)
    assert words in found.message


def test_only_what_a_person_must_put_right_is_trouble() -> None:
    assert not YES.is_trouble
    assert not Readiness("False", "Suspended", "").is_trouble
    assert Readiness("False", "Forbidden", "").is_trouble


def test_the_time_of_the_condition_moves_with_its_status_only() -> None:
    later = NOW + timedelta(hours=1)
    first = with_readiness(ModelExportTriggerStatus(triggered=2), YES, 1, NOW)
    same = with_readiness(first, Readiness("True", "Watching", "watching rayjobs"), 2, later)
    (condition,) = same.conditions
    assert (condition.last_transition_time, condition.message) == (NOW, "watching rayjobs")
    assert (condition.observed_generation, same.observed_generation) == (2, 2)
    other = with_readiness(same, Readiness("False", "Forbidden", "no"), 2, later)
    assert other.conditions[0].last_transition_time == later
    assert other.triggered == 2
