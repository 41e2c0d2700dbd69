"""List all ModelExports and Jobs periodically, because a watch can miss events.

After an expired watch kopf lists again, but does not report what was deleted in the meantime; a
cache that only follows events would keep it. Lists are read in chunks, at a jittered interval.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from typing import Any

from modelexport_api import PLURAL
from modelexport_operator import names
from modelexport_operator.cache import Cache
from modelexport_operator.client import EXPORTS, JOBS, Api, ApiError
from modelexport_operator.queue import WorkQueue

RETRY_SECONDS = 5.0

log = logging.getLogger(__name__)


class Resync:
    """Keeps the cache complete."""

    def __init__(
        self, api: Api, cache: Cache, queue: WorkQueue, namespaces: list[str], seconds: float
    ) -> None:
        self._api = api
        self._cache = cache
        self._queue = queue
        self._namespaces: list[str | None] = [*namespaces] or [None]
        self._seconds = seconds
        self._last = time.monotonic()

    @property
    def age(self) -> float:
        """Return the seconds since the last complete listing."""
        return time.monotonic() - self._last

    async def first(self) -> None:
        """List everything before the work starts; retry until the API server answers."""
        while True:
            if await self._attempt():
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def run(self) -> None:
        """List everything periodically until cancelled."""
        while True:
            await asyncio.sleep(self._seconds * random.uniform(0.8, 1.2))  # noqa: S311 - jitter
            await self.first()

    async def _attempt(self) -> bool:
        try:
            for namespace in self._namespaces:
                await self._jobs(namespace)
                await self._resources(namespace)
        except ApiError as error:
            log.warning("failed to list: %s", error)
            return False
        for uid in self._cache.live():
            self._queue.add(uid)
        self._last = time.monotonic()
        return True

    async def _resources(self, namespace: str | None) -> None:
        seen: set[str] = set()
        version = ""
        async for page in self._api.pages(EXPORTS, namespace, PLURAL):
            version = page.version
            for body in page.items:
                seen.add(body["metadata"]["uid"])
                store(self._cache.put_resource, body)
        self._cache.keep_resources(seen, version, namespace)

    async def _jobs(self, namespace: str | None) -> None:
        seen: set[str] = set()
        version = ""
        async for page in self._api.pages(JOBS, namespace, "jobs", names.UID_LABEL):
            version = page.version
            for body in page.items:
                seen.add(body["metadata"]["uid"])
                store(self._cache.put_job, body)
        for uid in self._cache.keep_jobs(seen, version, namespace):
            self._queue.add(uid)


def store(put: Callable[[dict[str, Any]], object], body: dict[str, Any]) -> None:
    """Store one object. An invalid object must not block the others."""
    try:
        put(body)
    except Exception:
        log.exception("failed to read object %s", body["metadata"]["uid"])
