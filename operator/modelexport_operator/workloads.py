"""Read the Workloads of Jobs that wait in Kueue's queues: one at a time, when they are due.

There is no watch and no cache of Workloads: what changes while a Job waits is read at growing
intervals, within a limit on reads per second for all of them. A Workload that is not read now is
None, and the status keeps the words it has.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from modelexport_operator import kueue
from modelexport_operator.kueue import ObservedWorkload
from modelexport_operator.limiter import Limiter
from modelexport_operator.observe import ObservedJob
from modelexport_operator.read_api import ReadApi
from modelexport_operator.settings import KueueSettings
from modelexport_operator.transport import NOT_FOUND, ApiError

JOB_UID_LABEL = "kueue.x-k8s.io/job-uid"
"""On Workloads, set by Kueue: the uid of their Job."""

VERSIONS = ("v1beta2", "v1beta1")
"""Versions of Kueue's API that have what is read here, in order of preference."""

EXPECTED = timedelta(seconds=2)
"""Kueue creates the Workload of a new Job in this time; before, there is nothing to read."""

REMEMBERED = 20_000
_FIRST = timedelta(seconds=5)

log = logging.getLogger(__name__)


class Workloads:
    """Reads Workloads, if the settings enable it."""

    def __init__(
        self,
        api: ReadApi,
        settings: KueueSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._enabled = settings.enabled
        self._limiter = Limiter(settings.qps, max(1, int(settings.qps)), clock)
        self._versions = list(VERSIONS)
        self._names: OrderedDict[str, str] = OrderedDict()

    async def read(self, job: ObservedJob, now: datetime) -> ObservedWorkload | None:
        """Return the Workload of a Job that waits; None if there is none, or it is not read now."""
        if not self._enabled or job.queue is None or not job.suspended or job.finished:
            return None
        if job.created is not None and now - job.created < EXPECTED:
            return None
        if not self._limiter.try_take():
            return None
        try:
            return await self._find(job)
        except ApiError as error:  # without it the export still waits, and its status says so
            log.warning("failed to read the Workload of Job %s: %s", job.name, error)
            return None

    async def _find(self, job: ObservedJob) -> ObservedWorkload | None:
        name = self._names.get(job.uid)
        if name is not None:
            body = await self._get(f"{_path(job)}/{name}", {})
            if body is not None:
                return kueue.observe_workload(body)
        found = await self._get(_path(job), {"labelSelector": f"{JOB_UID_LABEL}={job.uid}"})
        bodies = (found or {}).get("items") or []
        if not bodies:
            return None
        self._names[job.uid] = bodies[0]["metadata"]["name"]
        if len(self._names) > REMEMBERED:
            self._names.popitem(last=False)
        return kueue.observe_workload(bodies[0])

    async def _get(self, path: str, query: Mapping[str, str]) -> dict[str, Any] | None:
        """Read in the newest version that the cluster serves; None if nothing is there."""
        for version in list(self._versions):
            try:
                body = await self._api.call(
                    "GET", f"/apis/kueue.x-k8s.io/{version}/{path}", "workloads", query=query
                )
            except ApiError as error:
                if error.status != NOT_FOUND:
                    raise
                continue
            self._versions = [version]
            return body
        return None


def next_read(since: datetime | None, now: datetime, settings: KueueSettings) -> timedelta | None:
    """Return when to read the Workload again: after twice the time that its Job has waited."""
    if not settings.enabled:
        return None
    waited = now - since if since is not None else timedelta()
    return max(_FIRST, min(timedelta(seconds=settings.refresh_seconds), waited))


def _path(job: ObservedJob) -> str:
    return f"namespaces/{job.namespace}/workloads"
