"""Which replica may take the Lease, by its own clock only."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from modelexport_operator.leader import (
    Election,
    LeadershipLostError,
    LeaseObservation,
    may_take,
    observe_lease,
)
from modelexport_operator.settings import LeaseSettings
from modelexport_operator.transport import CONFLICT, NOT_FOUND, ApiError

OTHERS = LeaseObservation("7", "other", 15, first_seen=100)
FAST = LeaseSettings(duration_seconds=2, renew_seconds=0.05, retry_seconds=0.01)


@pytest.mark.parametrize(
    ("seen", "now", "may"),
    [
        (None, 0, True),
        (LeaseObservation("7", "", 15, 100), 101, True),
        (LeaseObservation("7", "me", 15, 100), 101, True),
        (OTHERS, 115, False),
        (OTHERS, 115.1, True),
    ],
    ids=["no Lease", "released", "own", "held", "expired"],
)
def test_may_take(seen: LeaseObservation | None, now: float, may: bool) -> None:
    assert may_take(seen, "me", now) == may


def test_a_renewed_lease_is_held_regardless_of_its_timestamps() -> None:
    renewed = {
        "metadata": {"resourceVersion": "8"},
        "spec": {
            "holderIdentity": "other",
            "leaseDurationSeconds": 15,
            "renewTime": "1970-01-01T00:00:00Z",
        },
    }
    assert observe_lease(renewed, OTHERS, 110).first_seen == 110
    again = observe_lease(renewed, observe_lease(renewed, OTHERS, 110), 120)
    assert again.first_seen == 110


class Store:
    """A Lease with optimistic locking, as the API server keeps it."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.answers = True

    async def get_lease(self, namespace: str, name: str) -> dict[str, Any]:
        if not self.answers:
            await asyncio.sleep(3600)
        if self.lease is None:
            raise ApiError(NOT_FOUND, "NotFound", f"{namespace}/{name}")
        return self.lease

    async def write_lease(self, lease: dict[str, Any]) -> dict[str, Any]:
        current = self.lease["metadata"]["resourceVersion"] if self.lease else None
        if lease["metadata"].get("resourceVersion") != current:
            raise ApiError(CONFLICT, "Conflict", "the object has been modified")
        self.version += 1
        meta = {**lease["metadata"], "resourceVersion": str(self.version)}
        self.lease = {**lease, "metadata": meta}
        return self.lease


def test_the_second_candidate_leads_after_the_first_has_released() -> None:
    async def scenario() -> None:
        store = Store()
        first = Election(store, "ns", "first", FAST)
        second = Election(store, "ns", "second", FAST)
        await first.acquire()
        waiting = asyncio.create_task(second.acquire())
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await first.release()
        async with asyncio.timeout(1):
            await waiting
        assert store.lease is not None
        assert store.lease["spec"]["holderIdentity"] == "second"
        assert store.lease["spec"]["leaseTransitions"] == 2

    asyncio.run(scenario())


def test_a_leader_whose_requests_hang_stops_before_the_lease_expires() -> None:
    async def scenario() -> None:
        store = Store()
        election = Election(store, "ns", "me", FAST)
        await election.acquire()
        store.answers = False
        with pytest.raises(LeadershipLostError):
            async with asyncio.timeout(1):
                await election.keep()

    asyncio.run(scenario())


def test_a_leader_that_observes_another_leader_stops_at_once() -> None:
    async def scenario() -> None:
        store = Store()
        patient = LeaseSettings(duration_seconds=60, renew_seconds=30, retry_seconds=0.01)
        election = Election(store, "ns", "me", patient)
        await election.acquire()
        assert store.lease is not None
        spec = {**store.lease["spec"], "holderIdentity": "other"}
        await store.write_lease({**store.lease, "spec": spec})
        with pytest.raises(LeadershipLostError, match="other now holds the Lease"):
            async with asyncio.timeout(5):
                await election.keep()

    asyncio.run(scenario())


def test_the_lease_belongs_to_its_owner_also_if_it_was_made_without() -> None:
    async def scenario() -> None:
        store = Store()
        await Election(store, "ns", "me", FAST).acquire()
        owner = {"kind": "ServiceAccount", "name": "operator", "uid": "u"}
        await Election(store, "ns", "me", FAST, owner=owner).acquire()
        assert store.lease is not None
        assert store.lease["metadata"]["ownerReferences"] == [owner]

    asyncio.run(scenario())


def test_a_standby_asks_more_often_than_the_leader_renews() -> None:
    async def scenario() -> None:
        store = Store()
        patient = LeaseSettings(duration_seconds=60, renew_seconds=30, retry_seconds=20)
        first = Election(store, "ns", "first", patient)
        await first.acquire()
        waiting = asyncio.create_task(Election(store, "ns", "second", patient).acquire())
        await asyncio.sleep(0.05)
        await first.release()
        async with asyncio.timeout(2):
            await waiting

    asyncio.run(scenario())
