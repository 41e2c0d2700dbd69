"""Events that the API server accepts, for any message and object, and what follows if it fails."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from modelexport_operator.decide import decide
from modelexport_operator.decisions import Event
from modelexport_operator.events import ATTEMPTS, NOTE_BYTES, EventRecorder, are_needed, manifest
from modelexport_operator.observe import Observation
from modelexport_operator.transport import ApiError
from unit.operator.objects import (
    NOW,
    SETTINGS,
    SUCCESS,
    at,
    ended,
    job,
    resource,
    running,
    terminated,
)

TERMINATING = (
    'events.events.k8s.io "e" is forbidden: unable to create new content in namespace n because it '
    "is being terminated"
)
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@pytest.mark.parametrize("message", ["", "short", "x" * 5000, "…" * 5000, "x" + "語" * 400])
def test_the_note_fits_the_limit_in_bytes(message: str) -> None:
    note = manifest(resource(), Event("Normal", "Told", message, ""), "operator-0", NOW)["note"]
    assert 0 < len(note.encode()) <= NOTE_BYTES
    assert "\ufffd" not in note


@pytest.mark.parametrize("name", ["digits", "a" * 199 + "-" + "b" * 20, "a" * 199 + "." + "b" * 20])
def test_the_name_is_a_dns_subdomain(name: str) -> None:
    event = manifest(resource(name=name), Event("Normal", "Told", "m", ""), "operator-0", NOW)
    assert SUBDOMAIN.fullmatch(event["metadata"]["name"])


class Server:
    """Answers the creations of an Event with these errors in turn, then creates it."""

    def __init__(self, *errors: ApiError) -> None:
        self.errors = list(errors)
        self.created = 0

    async def create_event(self, event: dict[str, Any]) -> None:
        assert event["reason"] == "Told"
        if self.errors:
            raise self.errors.pop(0)
        self.created += 1


@pytest.mark.parametrize(
    ("status", "reason", "message", "passes", "created"),
    [
        (500, "InternalError", "m", True, 1),
        (429, "TooManyRequests", "m", True, 1),
        (0, "NoAnswer", "m", True, 1),
        (409, "Conflict", "m", True, 1),  # with the counter of a quota, not with this Event
        (409, "AlreadyExists", "m", False, 0),
        (403, "Forbidden", "m", False, 1),  # asked again only because something else happened
        (403, "Forbidden", TERMINATING, False, 0),  # never possible again
    ],
)
def test_an_event_that_was_not_created_is_created_later(
    status: int, reason: str, message: str, passes: bool, created: int
) -> None:
    server = Server(ApiError(status, reason, message))

    async def record_twice() -> list[ApiError | None]:
        recorder = EventRecorder(server, "operator-0")
        told = (Event("Normal", "Told", "m", "end"),)
        return [await recorder.record(resource(), told) for _ in range(2)]

    first, second = asyncio.run(record_twice())
    assert (first is not None) == passes
    assert second is None
    assert server.created == created


def test_only_an_end_waits_for_its_event_and_not_for_ever() -> None:
    done = Observation(resource(), job(ended("Complete")), (terminated(0, SUCCESS),))
    end = decide(done, at(60), SETTINGS)
    active = decide(Observation(resource(), job(), (running(),)), at(60), SETTINGS)
    assert [are_needed(end, failures) for failures in range(ATTEMPTS + 2)] == (
        [True] * ATTEMPTS + [False] * 2
    )
    assert not are_needed(active, 0)
