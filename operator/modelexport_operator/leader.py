"""At most one operator works: leader election on a Lease.

The one that `kubernetes.aio` ships is not used: its requests may hang for five minutes while the
Lease runs out, so that two leaders work; a connection error ends the process; and it never gives
the Lease back, so that each rollout waits for the Lease to expire.

A replica trusts no other machine's clock: a Lease has expired when it did not change for its
duration on the own clock. A leader that could not renew in time ends; what it was about to write
is refused by the resourceVersion that goes with every final status.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from modelexport_operator.client import CONFLICT, NOT_FOUND, ApiError
from modelexport_operator.settings import LeaseSettings

log = logging.getLogger(__name__)


class Leases(Protocol):
    """The part of the API that an election needs."""

    async def get_lease(self, namespace: str, name: str) -> dict[str, Any]:
        """Read the Lease."""

    async def write_lease(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Create the Lease, or replace the version that was read."""


class LeadershipLostError(Exception):
    """The Lease could not be renewed in time; somebody else may lead."""


@dataclass(frozen=True)
class Sighting:
    """A version of the Lease, and when it was first seen on the own clock."""

    version: str
    holder: str
    duration: float
    first_seen: float


def may_take(seen: Sighting | None, identity: str, now: float) -> bool:
    """Tell whether the Lease is free, one's own, or expired."""
    if seen is None or seen.holder in {"", identity}:
        return True
    return now - seen.first_seen > seen.duration


def sight(lease: dict[str, Any], before: Sighting | None, now: float) -> Sighting:
    """Return what is known of the Lease after reading it again."""
    version = lease["metadata"]["resourceVersion"]
    if before is not None and before.version == version:
        return before
    spec = lease.get("spec") or {}
    holder, duration = spec.get("holderIdentity") or "", spec.get("leaseDurationSeconds") or 0
    return Sighting(version, holder, float(duration), now)


class Election:
    """One candidate."""

    def __init__(
        self,
        api: Leases,
        namespace: str,
        identity: str,
        settings: LeaseSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._namespace = namespace
        self._identity = identity
        self._settings = settings
        self._clock = clock
        self._seen: Sighting | None = None
        self._lease: dict[str, Any] | None = None

    async def acquire(self) -> None:
        """Wait until this replica leads."""
        while True:
            if await self._try_once():
                break
            await asyncio.sleep(self._settings.retry_seconds)
        log.info("leading", extra={"fields": {"identity": self._identity}})

    async def keep(self) -> None:
        """Renew for ever. Raises LeadershipLostError when that did not succeed in time."""
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
                        raise LeadershipLostError(f"{self._seen.holder} holds the Lease")
            except TimeoutError:
                continue

    async def release(self) -> None:
        """Give the Lease back, so that another replica need not wait for it to expire."""
        if self._lease is None or self._seen is None or self._seen.holder != self._identity:
            return
        try:
            async with asyncio.timeout(self._settings.retry_seconds):
                spec = {**self._lease["spec"], "holderIdentity": ""}
                await self._api.write_lease({**self._lease, "spec": spec})
        except (ApiError, TimeoutError) as error:
            log.info("the Lease was not given back: %s", error)

    async def _try_once(self) -> bool:
        try:
            self._lease = await self._read()
            if not may_take(self._seen, self._identity, self._clock()):
                return False
            self._lease = await self._api.write_lease(self._wanted())
        except ApiError as error:
            if error.status != CONFLICT:
                log.warning("the Lease cannot be read or written: %s", error)
            return False
        self._seen = sight(self._lease, None, self._clock())
        return True

    async def _read(self) -> dict[str, Any] | None:
        try:
            lease = await self._api.get_lease(self._namespace, self._settings.name)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise
            self._seen = None
            return None
        self._seen = sight(lease, self._seen, self._clock())
        return lease

    def _wanted(self) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
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
        return {**lease, "spec": spec}
