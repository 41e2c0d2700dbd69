"""The conditions for tools that wait: their table, and what holds in every history."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from modelexport_api.conditions import ConditionState
from modelexport_api.status import ConditionType, Phase
from modelexport_operator import readiness
from modelexport_operator.observe import ObservedJob
from unit.operator.histories import STATES, Pods, histories, stored
from unit.operator.objects import Object

KINDS = ("Ready", "Reconciling", "Stalled", "Finished")
EXPECTED = {
    "InProgress": {"Ready": "Unknown", "Reconciling": "True"},
    "Current": {"Ready": "True", "Finished": "True"},
    "Failed": {"Ready": "False", "Stalled": "True", "Finished": "True"},
}


def conditions(body: Object) -> dict[str, Any]:
    return {entry["type"]: entry for entry in body["status"].get("conditions", [])}


def own(body: Object) -> dict[str, str]:
    found = conditions(body)
    return {kind: found[kind]["status"] for kind in KINDS if kind in found}


@pytest.mark.parametrize(
    ("spec", "found", "pods", "status"),
    [row[1:] for row in STATES],
    ids=[row[0] for row in STATES],
)
def test_conditions_of_each_state(
    spec: Object, found: ObservedJob | None, pods: Pods, status: str
) -> None:
    expected = EXPECTED[status]
    if spec.get("suspend"):
        expected = {"Ready": "Unknown"}
    assert own(stored(spec, found, pods)) == expected


def state(name: str) -> dict[str, Any]:
    (row,) = [row for row in STATES if row[0] == name]
    return conditions(stored(*row[1:4]))


@pytest.mark.parametrize(
    ("name", "kind", "reason", "words"),
    [
        ("pending", "Reconciling", "Pending", "a pod is being created"),
        ("unschedulable", "Reconciling", "Unschedulable", "Insufficient gpu"),
        ("cannot start yet", "Ready", "PodCannotStart", "no such image"),
        ("queued", "Reconciling", "Queued", "in queue gpu"),
        ("suspended", "Ready", "Suspended", "spec.suspend is true"),
        ("running", "Reconciling", "Running", "a pod is running"),
        ("running again", "Reconciling", "Running", "attempt 2 of 4: StoreUnavailable"),
        ("succeeded", "Ready", "Published", "s3://models/digits/onnx/model.onnx"),
        ("verified", "Ready", "Verified", ""),
        ("batch with allowed failures", "Ready", "PartiallyPublished", "4 of 5 checkpoints"),
        ("batch partially failed", "Stalled", "TooManyFailed", "spec.maxFailed is 0"),
        ("failed verification", "Stalled", "VerificationFailed", "found this, expected that (do"),
        ("succeeded", "Finished", "Complete", ""),
        ("failed verification", "Finished", "Failed", ""),
    ],
)
def test_reasons_and_messages(name: str, kind: str, reason: str, words: str) -> None:
    entry = state(name)[kind]
    assert entry["reason"] == reason
    assert words in entry.get("message", "")


def test_an_export_that_its_queue_never_admits_again_is_stalled() -> None:
    queued = ConditionState(ConditionType.SCHEDULED, "False", "Deactivated", "deactivated by x")
    found = readiness.conditions(Phase.QUEUED, [queued], None)
    assert [(entry.type, entry.status, entry.message) for entry in found] == [
        ("Ready", "Unknown", "deactivated by x"),
        ("Stalled", "True", "deactivated by x"),
    ]


@given(histories())
def test_exactly_one_of_three_holds_in_every_history(versions: list[Object]) -> None:
    for body in versions[1:]:
        found = conditions(body)
        if not found:
            continue
        ended = {"Complete", "Failed"} & set(found)
        holds = [
            found["Ready"]["status"] == "Unknown",
            found["Ready"]["status"] == "True",
            found["Ready"]["status"] == "False",
        ]
        assert sum(holds) == 1
        assert ("Reconciling" in found) == (holds[0] and body["status"]["phase"] != "Suspended")
        assert ("Stalled" in found) == holds[2] == ("Failed" in found)
        assert ("Finished" in found) == bool(ended)
        assert holds[1] == ("Complete" in found)


@given(histories())
def test_times_change_only_with_the_status(versions: list[Object]) -> None:
    for before, after in pairwise(versions):
        old, new = conditions(before), conditions(after)
        for kind in old.keys() & new.keys():
            changed = old[kind]["status"] != new[kind]["status"]
            moved = old[kind]["lastTransitionTime"] != new[kind]["lastTransitionTime"]
            assert moved == changed, kind
