"""A pod that does not start is described by its Events, as kubelets write them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from modelexport_operator import starting
from modelexport_operator.decide import decide
from modelexport_operator.observe import Observation
from modelexport_operator.pods import ObservedPod
from modelexport_operator.transport import ApiError
from unit.operator.objects import (
    SETTINGS,
    at,
    job,
    pod,
    resource,
    running,
    terminated,
    waiting,
    wire_time,
)

GRACE = timedelta(seconds=120)
CREATING = waiting("ContainerCreating")
MISSING = 'MountVolume.SetUp failed for volume "s3" : secret "s3" not found'
TIMEOUT = "Unable to attach or mount volumes: unmounted volumes=[s3]: timed out waiting"


def event(
    reason: str, note: str = "", seconds: float = 10, kind: str = "Warning"
) -> dict[str, Any]:
    """An Event of the kubelet: it repeats it with the fields of the older API."""
    made = {"creationTimestamp": wire_time(at(1))}
    seen = wire_time(at(seconds))
    return {
        "metadata": made,
        "reason": reason,
        "note": note,
        "type": kind,
        "eventTime": None,
        "deprecatedLastTimestamp": seen,
    }


SCHEDULED = event("Scheduled", "assigned ml/x to n1", 1, "Normal")
PULLING = event("Pulling", 'Pulling image "exporter:1"', 20, "Normal")
UNSCHEDULED = event("FailedScheduling", "0/3 nodes are available", 0)
FAILED = event("FailedMount", MISSING)


@pytest.mark.parametrize(
    ("events", "words", "reason"),
    [
        ([SCHEDULED, FAILED], f"FailedMount: {MISSING}", "PodNotStarted"),
        ([FAILED, event("FailedMount", TIMEOUT, 30)], f"FailedMount: {MISSING}", "PodNotStarted"),
        (
            [event("FailedAttachVolume", "Multi-Attach error for volume pvc-1")],
            "FailedAttachVolume: Multi-Attach",
            "PodNotStarted",
        ),
        (
            [event("FailedCreatePodSandBox", "cni failed"), SCHEDULED],
            "FailedCreatePodSandBox: cni",
            "PodNotStarted",
        ),
        ([FAILED, PULLING], 'Pulling image "exporter:1"', "Pulling"),
        ([PULLING, event("FailedMount", MISSING, 40)], f"FailedMount: {MISSING}", "PodNotStarted"),
        ([UNSCHEDULED, SCHEDULED], "has not started (ContainerCreating)", "PodNotStarted"),
        ([], "has not started (ContainerCreating)", "PodNotStarted"),
    ],
    ids=[
        "a Secret is missing",
        "the name is preferred to the timeout",
        "a disk cannot be attached",
        "no sandbox",
        "it was mounted since, and the image is pulled",
        "the other way round",
        "what the scheduler wrote is over",
        "no Event",
    ],
)
def test_what_a_late_pod_waits_for(events: list[dict[str, Any]], words: str, reason: str) -> None:
    for order in (events, events[::-1]):
        found = starting.describe(CREATING, order)
        assert words in found.message
        assert found.reason == reason


@pytest.mark.parametrize(
    ("found", "seconds", "late"),
    [
        (CREATING, 119, False),
        (CREATING, 120, True),
        (replace(CREATING, scheduled_at=at(60)), 179, False),
        (replace(CREATING, scheduled_at=at(60)), 180, True),
        (pod(nodeName="n1"), 500, True),
        (pod(), 500, False),
        (running(), 500, False),
        (terminated(1), 500, False),
        (waiting("ImagePullBackOff"), 500, False),
    ],
    ids=[
        "in its grace",
        "late",
        "scheduled later",
        "scheduled later and late",
        "without container states",
        "not scheduled",
        "running",
        "ended",
        "cannot start for a reason that its status has",
    ],
)
def test_a_pod_is_late_after_the_grace(found: ObservedPod, seconds: float, late: bool) -> None:
    assert starting.is_late(found, at(seconds), GRACE) is late


def test_events_that_cannot_be_read_are_no_error() -> None:
    class Server:
        async def call(
            self, method: str, path: str, resource: str, *, query: Mapping[str, str] | None = None
        ) -> dict[str, Any]:
            raise ApiError(500, "InternalError", "etcd is down")

    found = asyncio.run(starting.read_obstacle(Server(), "ml", CREATING))
    assert "has not started" in found.message


def test_a_late_pod_is_reported_once_and_does_not_fail() -> None:
    late = replace(CREATING, obstacle=starting.describe(CREATING, [FAILED]))
    decision = decide(Observation(resource(), job(), (late,)), at(200), SETTINGS)
    status = decision.status
    assert status is not None
    assert (status.phase, status.reason) == ("Pending", "PodNotStarted")
    assert status.message is not None
    assert 'secret "s3" not found' in status.message
    assert [entry.reason for entry in decision.events] == ["PodNotStarted"]
    exported = next(c for c in status.conditions if c.type == "Exported")
    assert exported.message.endswith("Kubernetes ends the Job at 2026-05-01T13:00:00Z")
    later = decide(
        Observation(resource(status=status.to_wire()), job(), (late,)), at(4000), SETTINGS
    )
    assert later.action is None
    assert later.events == ()


def test_a_large_image_that_is_being_pulled_is_nothing_to_worry_about() -> None:
    late = replace(CREATING, obstacle=starting.describe(CREATING, [PULLING]))
    decision = decide(Observation(resource(), job(), (late,)), at(200), SETTINGS)
    assert decision.status is not None
    assert decision.status.reason is None
    assert decision.events == ()
    exported = next(c for c in decision.status.conditions if c.type == "Exported")
    assert exported.message.startswith(f"pod {late.name}: Pulling image")
