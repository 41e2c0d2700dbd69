"""Leader election on a Lease: at most one replica works.

The implementation in `kubernetes.aio` is not used: its requests may hang for five minutes while
the Lease expires, so that two replicas lead; a connection error ends the process; and it does not
release the Lease, so that each rollout waits until the Lease expires.

A replica does not rely on the clock of another machine: a Lease has expired if it did not change
for its duration, measured by the replica's own clock. A leader that could not renew in time ends
its process; the API server rejects its pending writes by their resourceVersion.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from modelexport_operator import clock
from modelexport_operator.settings import LeaseSettings
from modelexport_operator.transport import CONFLICT, NOT_FOUND, ApiError

STANDBY_SECONDS = 0.5
"""At most this long after its release, another replica takes the Lease."""

log = logging.getLogger(__name__)


class LeasesApi(Protocol):
    """The part of the API that an election needs."""

    async def get_lease(self, namespace: str, name: str) -> dict[str, Any]:
        """Read the Lease."""

    async def write_lease(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Create the Lease, or replace the version that was read."""


class LeadershipLostError(Exception):
    """The Lease was not renewed in time; another replica may be the leader."""


@dataclass(frozen=True)
class LeaseObservation:
    """A version of the Lease, and when this replica first observed it by its own clock."""

    version: str
    holder: str
    duration: float
    first_seen: float


def may_take(seen: LeaseObservation | None, identity: str, now: float) -> bool:
    """Return whether the Lease is free, already held by this replica, or expired."""
    if seen is None or seen.holder in {"", identity}:
        return True
    return now - seen.first_seen > seen.duration


def observe_lease(
    lease: dict[str, Any], before: LeaseObservation | None, now: float
) -> LeaseObservation:
    """Return the observation of a Lease that was read again."""
    version = lease["metadata"]["resourceVersion"]
    if before is not None and before.version == version:
        return before
    spec = lease.get("spec") or {}
    holder, duration = spec.get("holderIdentity") or "", spec.get("leaseDurationSeconds") or 0
    return LeaseObservation(version, holder, float(duration), now)


class Election:
    """The election, as one replica takes part in it."""

    def __init__(
        self,
        api: LeasesApi,
        namespace: str,
        identity: str,
        settings: LeaseSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        owner: dict[str, Any] | None = None,
    ) -> None:
        self._api = api
        self._namespace = namespace
        self._identity = identity
        self._settings = settings
        self._clock = clock
        self._owner = owner
        self._seen: LeaseObservation | None = None
        self._lease: dict[str, Any] | None = None

    async def acquire(self) -> None:
        """Wait until this replica is the leader."""
        while True:
            if await self._try_once():
                break
            await asyncio.sleep(min(STANDBY_SECONDS, self._settings.retry_seconds))
        log.info("became leader", extra={"fields": {"identity": self._identity}})

    async def keep(self) -> None:
        """Renew the Lease until it fails. Raises LeadershipLostError if it was not in time."""
        renewed = self._clock()
        while True:
            await asyncio.sleep(self._settings.retry_seconds)
            left = renewed + self._settings.renew_seconds - self._clock()
            if left <= 0:
                raise LeadershipLostError(
                    f"the Lease was not renewed for {self._settings.renew_seconds} s"
                )
            started = self._clock()
            try:
                async with asyncio.timeout(left):
                    if await self._try_once():
                        renewed = started
                    elif self._seen is not None and self._seen.holder not in {"", self._identity}:
                        raise LeadershipLostError(f"{self._seen.holder} now holds the Lease")
            except TimeoutError:
                continue

    async def release(self) -> None:
        """Release the Lease, so that another replica does not wait until it expires."""
        if self._lease is None or self._seen is None or self._seen.holder != self._identity:
            return
        try:
            async with asyncio.timeout(self._settings.retry_seconds):
                lease, self._lease = self._lease, None
                spec = {**lease["spec"], "holderIdentity": ""}
                await self._api.write_lease({**lease, "spec": spec})
        except (ApiError, TimeoutError) as error:
            log.info("failed to release the Lease: %s", error)

    async def _try_once(self) -> bool:
        try:
            self._lease = await self._read()
            if not may_take(self._seen, self._identity, self._clock()):
                return False
            self._lease = await self._api.write_lease(self._new_lease())
        except ApiError as error:
            if error.status != CONFLICT:
                log.warning("failed to read or write the Lease: %s", error)
            return False
        self._seen = observe_lease(self._lease, None, self._clock())
        return True

    async def _read(self) -> dict[str, Any] | None:
        try:
            lease = await self._api.get_lease(self._namespace, self._settings.name)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise
            self._seen = None
            return None
        self._seen = observe_lease(lease, self._seen, self._clock())
        return lease

    def _new_lease(self) -> dict[str, Any]:
        now = clock.format_micro(datetime.now(UTC))
        lease = self._lease or {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._settings.name, "namespace": self._namespace},
        }
        spec = dict(lease.get("spec") or {})
        if spec.get("holderIdentity") != self._identity:
            spec["leaseTransitions"] = (spec.get("leaseTransitions") or 0) + 1
            spec["acquireTime"] = now
        spec |= {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": self._settings.duration_seconds,
            "renewTime": now,
        }
        owners = {"ownerReferences": [self._owner]} if self._owner else {}
        return {**lease, "metadata": {**lease["metadata"], **owners}, "spec": spec}
