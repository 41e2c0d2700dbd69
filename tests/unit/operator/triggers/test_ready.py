"""The condition Ready: its reasons, and its transition time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind
from modelexport_operator.triggers.ready import Readiness, resolve_kind, with_readiness
from unit.api.trigger_manifests import OWN, changed
from unit.operator.triggers.trainings import trigger

NOW = datetime(2026, 5, 2, tzinfo=UTC)
YES = Readiness("True", "Watching", "watching jobs")
BROKEN = changed("template.spec.source", {"uri": "s3://$("})["spec"]["template"]
FIELD = {**OWN, "success": {"field": {"path": ".status..phase", "value": "x"}}}


def test_a_valid_trigger_watches_its_kind() -> None:
    found = resolve_kind(trigger(), TriggerSettings())
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
def test_reasons_why_a_trigger_creates_nothing(
    spec: dict[str, Any], reason: str, words: str
) -> None:
    found = resolve_kind(trigger(**spec), TriggerSettings())
    assert isinstance(found, Readiness)
    assert (found.status, found.reason) == ("True" if reason == "Suspended" else "False", reason)
    assert words in found.message


def test_suspension_needs_no_action() -> None:
    assert not YES.needs_action
    assert not Readiness("True", "Suspended", "").needs_action
    assert Readiness("False", "Forbidden", "").needs_action


def test_the_time_of_the_condition_changes_only_with_its_status() -> None:
    later = NOW + timedelta(hours=1)
    first = with_readiness(ModelExportTriggerStatus(triggered=2), YES, 1, NOW)
    same = with_readiness(first, Readiness("True", "Watching", "watching rayjobs"), 2, later)
    (condition,) = same.conditions
    assert (condition.last_transition_time, condition.message) == (NOW, "watching rayjobs")
    assert (condition.observed_generation, same.observed_generation) == (2, 2)
    other = with_readiness(same, Readiness("False", "Forbidden", "no"), 2, later)
    assert other.conditions[0].last_transition_time == later
    assert other.triggered == 2


@pytest.mark.parametrize(
    ("reason", "stalled"),
    [
        ("TemplateInvalid", True),
        ("SelectorInvalid", True),
        ("KindNotEnabled", True),
        ("KindNotInstalled", False),
        ("Forbidden", False),
        ("CreationRefused", False),
    ],
)
def test_a_trigger_is_stalled_if_waiting_cannot_help(reason: str, stalled: bool) -> None:
    broken = with_readiness(ModelExportTriggerStatus(), Readiness("False", reason, "no"), 1, NOW)
    assert [entry.type for entry in broken.conditions] == ["Ready", *["Stalled"] * stalled]
    repaired = with_readiness(broken, YES, 2, NOW)
    assert [(entry.type, entry.status) for entry in repaired.conditions] == [("Ready", "True")]
