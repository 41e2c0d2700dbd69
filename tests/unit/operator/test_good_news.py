"""Which status waits for a moment, and for longer while the operator is at its rate limit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelexport_operator import good_news
from modelexport_operator.decide import decide
from modelexport_operator.observe import Observation
from modelexport_operator.pods import ObservedPod
from unit.operator.objects import (
    SETTINGS,
    SUCCESS,
    at,
    ended,
    job,
    pod,
    resource,
    running,
    terminated,
)

RUNNING = running()  # since the fifth second
PENDING = {"phase": "Pending", "jobName": "digits-1a2b3c4d"}


def waits(seen: Observation, seconds: float, *, busy: bool = True) -> bool:
    return good_news.can_wait(seen, decide(seen, at(seconds), SETTINGS), at(seconds), busy=busy)


@pytest.mark.parametrize(
    ("status", "pods", "seconds", "expected"),
    [
        (PENDING, (RUNNING,), 6, True),
        (PENDING, (RUNNING,), 14, True),
        (PENDING, (RUNNING,), 16, False),  # not for longer
        (PENDING, (RUNNING,), 4, False),  # the clock of the node is ahead
        ({}, (RUNNING,), 6, False),  # tools take an export without a status for ready
        ({"phase": "Queued"}, (RUNNING,), 6, False),
        ({"phase": "Running"}, (RUNNING,), 6, False),
        (PENDING, (), 6, False),
        (PENDING, (pod(),), 6, False),
    ],
)
def test_what_can_wait(
    status: dict[str, str], pods: tuple[ObservedPod, ...], seconds: float, expected: bool
) -> None:
    assert waits(Observation(resource(status=status), job(), pods), seconds) is expected


@pytest.mark.parametrize(("seconds", "expected"), [(4, False), (5, True), (6.9, True), (7, False)])
def test_it_waits_two_seconds_for_a_pod_that_ends_at_once(seconds: float, expected: bool) -> None:
    seen = Observation(resource(status=PENDING), job(), (RUNNING,))
    assert waits(seen, seconds, busy=False) is expected


def test_problems_and_ends_do_not_wait() -> None:
    stuck = replace(pod(), unschedulable="0/1 nodes are available")
    assert not waits(Observation(resource(status=PENDING), job(), (stuck,)), 6)
    over = terminated(0, SUCCESS)
    assert not waits(Observation(resource(status=PENDING), job(ended("Complete")), (over,)), 61)
