"""Progress of running pods: read from their logs, written to the status.

The last lines are read periodically, not as a stream: a thousand streams are a thousand
connections through the API server, and a stream that hangs looks like a pod without output. All
reads share a rate limit (`api.logQps`); the more pods, the longer the interval. Of a batch, only a
few pods are read in each turn, so that a batch of 256 pods does not delay the others. Progress has
its own field manager, which never overwrites the `progress` and `items` of the final status.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from modelexport_api.items import Items, ShareCounts
from modelexport_api.pod import CONTAINER, parse_log_line
from modelexport_api.status import Progress, Stage
from modelexport_operator import items, names
from modelexport_operator.observe import ObservedResource
from modelexport_operator.pods import LogTail, ObservedPod
from modelexport_operator.transport import CONFLICT, NOT_FOUND, ApiError

LINES = 20
INTERVAL = 2.0
READERS = 8
PODS_PER_TURN = 8
"""Pods of one ModelExport that are read in one turn."""
_LARGEST = 2**63
"""The model's own code can print to the log: larger values for a peak are ignored."""

log = logging.getLogger(__name__)


class LogsApi(Protocol):
    """The part of the API that progress needs."""

    async def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> str:
        """Read the last lines of a log."""

    async def apply_status(
        self, metadata: dict[str, Any], status: dict[str, Any], manager: str, *, force: bool
    ) -> dict[str, Any]:
        """Apply fields of a status."""


def parse_tail(text: str) -> LogTail:
    """Return the last progress, counts and peak memory in a part of a log."""
    progress, peak, share = None, None, None
    for line in text.splitlines():
        entry = parse_log_line(line)
        if entry is None:
            continue
        progress = entry.progress or progress
        share = entry.share if items.is_plausible(entry.share) else share
        value = entry.fields.get("peakMemoryBytes")
        peak = value if isinstance(value, int) and 0 < value < _LARGEST else peak
    return LogTail(progress, peak, share)


async def read_tail(api: LogsApi, namespace: str, pod: str) -> LogTail:
    """Return the end of the pod's log; empty if the log cannot be read."""
    try:
        return parse_tail(await api.log_tail(namespace, pod, CONTAINER, LINES))
    except ApiError as error:
        log.debug("failed to read the log of pod %s/%s: %s", namespace, pod, error)
        return LogTail()


@dataclass
class TrackedExport:
    """An export whose pods are read, and what they reported."""

    namespace: str
    name: str
    progress: Progress | None
    """Last written value, as are the items."""
    items: Items | None
    stage_since: float
    running: dict[str, int | None] = field(default_factory=dict)
    """Running pods and their indexes."""
    ended: dict[int, ShareCounts] = field(default_factory=dict)
    """Counts of pods that have ended, by index."""
    reported: dict[str, ShareCounts] = field(default_factory=dict)
    """Counts of running pods, by name."""
    last: Progress | None = None
    turn: int = 0

    def update_pods(self, pods: tuple[ObservedPod, ...]) -> None:
        """Set the running pods, and keep the counts of those that have ended."""
        known = items.known_shares(pods).shares
        self.running = {pod.name: pod.index for pod in pods if pod.running}
        for pod in pods:
            last = None if pod.running else self.reported.pop(pod.name, None)
            if last is not None and pod.index is not None:
                before, stopped = self.ended.get(pod.index), last.model_copy(update={"running": 0})
                self.ended[pod.index] = items.latest_counts(before, stopped)
        for index, share in known.items():
            self.ended[index] = items.latest_counts(self.ended.get(index), share)

    def next_pods(self) -> list[str]:
        """Return the pods to read in the next turn."""
        names_of = list(self.running)
        begin = self.turn % max(1, len(names_of))
        self.turn += PODS_PER_TURN
        return [*names_of[begin:], *names_of[:begin]][:PODS_PER_TURN]

    def update_log(self, pod: str, tail: LogTail) -> None:
        """Keep what a pod reported in its log."""
        self.last = tail.progress or self.last
        if tail.share is not None:
            self.reported[pod] = tail.share

    def current(self) -> tuple[Progress | None, Items | None]:
        """Return the current progress and counts."""
        shares = dict(self.ended)
        for pod, index in self.running.items():
            counts = self.reported.get(pod)
            if index is not None and counts is not None:
                shares[index] = items.latest_counts(shares.get(index), counts)
        total = items.sum_shares(shares)
        return (items.batch_progress(total, self.last) if total else self.last), total


class Tracker:
    """Reads the logs of running pods and writes their progress."""

    def __init__(
        self,
        api: LogsApi,
        log_qps: float,
        stage_done: Callable[[Stage, float], None],
        written: Callable[[dict[str, Any]], object],
    ) -> None:
        self._api = api
        self._qps = log_qps
        self._stage_done = stage_done
        self._written = written
        self._tracked: dict[str, TrackedExport] = {}

    def follow(self, resource: ObservedResource, pods: tuple[ObservedPod, ...]) -> None:
        """Start or continue to read the logs of the running ones of these pods."""
        tracked = self._tracked.get(resource.uid)
        if tracked is None:
            stored = resource.status
            tracked = TrackedExport(
                resource.namespace, resource.name, stored.progress, stored.items, time.monotonic()
            )
            self._tracked[resource.uid] = tracked
        tracked.update_pods(pods)

    def forget(self, uid: str) -> None:
        """Stop reading: no pod is running."""
        self._tracked.pop(uid, None)

    async def clear_running(self, resource: ObservedResource) -> None:
        """Stop reading, and write that nothing is running: the export is suspended or queued."""
        self.forget(resource.uid)
        counts = resource.status.items
        if resource.status.progress is None and not (counts and counts.running):
            return
        meta = {"namespace": resource.namespace, "name": resource.name, "uid": resource.uid}
        status = {"items": items.without_running(counts).to_wire()} if counts else {}
        self._written(
            await self._api.apply_status(meta, status, names.PROGRESS_MANAGER, force=False)
        )

    async def run(self) -> None:
        """Read the pods in turns until cancelled."""
        while True:
            started = time.monotonic()
            gate = asyncio.Semaphore(READERS)
            counts = await asyncio.gather(*(self.read(gate, key) for key in list(self._tracked)))
            pause = max(INTERVAL, sum(counts) / self._qps) - (time.monotonic() - started)
            await asyncio.sleep(max(0.1, pause))

    async def read(self, gate: asyncio.Semaphore, uid: str) -> int:
        """Read some pods of one export and write changes; return how many were read."""
        async with gate:
            tracked = self._tracked.get(uid)
            if tracked is None:
                return 0
            pods = tracked.next_pods()
            for pod in pods:
                tracked.update_log(pod, await read_tail(self._api, tracked.namespace, pod))
            progress, counts = tracked.current()
            changed = (progress, counts) != (tracked.progress, tracked.items)
            if changed and progress is not None and self._tracked.get(uid) is tracked:
                await self._write(uid, tracked, progress, counts)
            return len(pods)

    async def _write(
        self, uid: str, tracked: TrackedExport, progress: Progress, counts: Items | None
    ) -> None:
        metadata = {"namespace": tracked.namespace, "name": tracked.name, "uid": uid}
        status = {"progress": progress.to_wire(), **({"items": counts.to_wire()} if counts else {})}
        try:
            body = await self._api.apply_status(
                metadata, status, names.PROGRESS_MANAGER, force=False
            )
        except ApiError as error:
            if error.status in {CONFLICT, NOT_FOUND}:  # it has finished or was deleted
                self.forget(uid)
            else:
                fields = {**metadata, "reason": error.reason}
                log.warning("failed to write progress: %s", error, extra={"fields": fields})
            return
        self._written(body)
        before, now = tracked.progress, time.monotonic()
        if counts is None and before is not None and before.stage != progress.stage:
            self._stage_done(before.stage, now - tracked.stage_since)
        if before is None or before.stage != progress.stage:
            tracked.stage_since = now
        tracked.progress, tracked.items = progress, counts
