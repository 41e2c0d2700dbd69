"""A Job that cannot be created for a passing reason: the status says why, and it is retried."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from modelexport_operator import actions
from modelexport_operator.decide import decide
from modelexport_operator.decisions import CreateJob, Decision
from modelexport_operator.observe import Observation, ObservedResource
from modelexport_operator.transport import ApiError
from unit.operator.objects import NOW, SETTINGS, at, resource
from unit.operator.test_actions import Server

QUOTA = 'jobs.batch "x" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, used: 5'
ENDING = 'jobs.batch "x" is forbidden: unable to create new content, it is being terminated'
FORBIDDEN = 'jobs.batch is forbidden: User "operator" cannot create resource "jobs" in API group'
WEBHOOK = 'Internal error occurred: failed calling webhook "vjob.kb.io": connection refused'
CONFLICT = "Operation cannot be fulfilled on resourcequotas q: the object has been modified"


class Refusing(Server):
    """Answers the creation of a Job with an error."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(0)
        self.answer = ApiError(status, reason, message)

    async def create_job(self, manifest: dict[str, Any]) -> dict[str, Any]:
        raise self.answer


def decided(server: Server, found: ObservedResource) -> Decision:
    seen = Observation(found)
    first = decide(seen, NOW, SETTINGS)
    assert isinstance(first.action, CreateJob)
    done = asyncio.run(actions.act(server, first.action, seen))
    return decide(done.seen, at(1), SETTINGS)


@pytest.mark.parametrize(
    ("status", "reason", "message", "wanted"),
    [
        (403, "Forbidden", QUOTA, "QuotaExceeded"),
        (403, "Forbidden", ENDING, "NamespaceTerminating"),
        (403, "Forbidden", FORBIDDEN, "PermissionMissing"),
        (500, "InternalError", WEBHOOK, "WebhookFailed"),
        (409, "Conflict", CONFLICT, "JobNotCreated"),
        (429, "TooManyRequests", "the server has received too many requests", "JobNotCreated"),
        (503, "ServiceUnavailable", "etcdserver: leader changed", "JobNotCreated"),
        (0, "NoAnswer", "TimeoutError", "JobNotCreated"),
    ],
)
def test_a_passing_reason_is_a_state(status: int, reason: str, message: str, wanted: str) -> None:
    server = Refusing(status, reason, message)
    decision = decided(server, resource())
    assert decision.retry
    found = decision.status
    assert found is not None
    assert (found.phase, found.reason) == ("Pending", wanted)
    scheduled = next(c for c in found.conditions if c.type == "Scheduled")
    assert (scheduled.status, scheduled.reason) == ("False", wanted)
    assert message in scheduled.message
    assert [(event.type, event.reason) for event in decision.events] == [("Warning", wanted)]
    again = decided(server, resource(status=found.to_wire()))
    assert again.retry
    assert again.events == ()


@pytest.mark.parametrize(
    ("status", "message"), [(422, "x is invalid"), (403, "denied the request")]
)
def test_a_final_rejection_fails_the_export(status: int, message: str) -> None:
    found = decided(Refusing(status, "Refused", message), resource()).status
    assert found is not None
    assert found.phase == "Failed"


def test_a_namespace_that_is_gone_is_no_state() -> None:
    with pytest.raises(ApiError):
        decided(Refusing(404, "NotFound", 'namespaces "ml" not found'), resource())
