"""What running pods say about their progress: read from their logs, written into the status.

A periodic read of the last lines instead of a stream: a thousand streams are a thousand
connections through the API server, and a stream that hangs looks like a pod that is silent. The
reads share a budget (`api.logQps`); with more pods each is read more rarely. Progress has a field
manager of its own and never takes `progress` from the one that writes the end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from modelexport_api.pod import CONTAINER, parse_log_line
from modelexport_api.status import Progress, Stage
from modelexport_operator import names
from modelexport_operator.client import CONFLICT, NOT_FOUND, ApiError
from modelexport_operator.observe import LogTail, ObservedResource

LINES = 20
INTERVAL = 2.0
READERS = 8
_LARGEST = 2**63
"""What the model's own code prints is no promise of ours: a peak beyond this is no number."""

log = logging.getLogger(__name__)


class Logs(Protocol):
    """The part of the API that progress needs."""

    async def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> str:
        """Read the last lines of a log."""

    async def apply_status(
        self, metadata: dict[str, Any], status: dict[str, Any], manager: str, *, force: bool
    ) -> dict[str, Any]:
        """Apply fields of a status."""


def parse_tail(text: str) -> LogTail:
    """Return the last progress and the last peak of memory in a piece of log."""
    progress, peak = None, None
    for line in text.splitlines():
        entry = parse_log_line(line)
        if entry is None:
            continue
        progress = entry.progress or progress
        told = entry.fields.get("peakMemoryBytes")
        peak = told if isinstance(told, int) and 0 < told < _LARGEST else peak
    return LogTail(progress, peak)


async def read_tail(api: Logs, namespace: str, pod: str) -> LogTail:
    """Return what the pod said last; nothing when its log cannot be read."""
    try:
        return parse_tail(await api.log_tail(namespace, pod, CONTAINER, LINES))
    except ApiError as error:
        log.debug("no log of pod %s/%s: %s", namespace, pod, error)
        return LogTail()


@dataclass
class _Followed:
    namespace: str
    name: str
    pod: str
    written: Progress | None
    stage_since: float


class Tracker:
    """Follows the pods that run."""

    def __init__(
        self,
        api: Logs,
        log_qps: float,
        stage_done: Callable[[Stage, float], None],
        written: Callable[[dict[str, Any]], object],
    ) -> None:
        self._api = api
        self._qps = log_qps
        self._stage_done = stage_done
        self._written = written
        self._followed: dict[str, _Followed] = {}

    def follow(self, resource: ObservedResource, pod: str) -> None:
        """Read this pod's log from now on."""
        known = self._followed.get(resource.uid)
        if known is not None and known.pod == pod:
            return
        self._followed[resource.uid] = _Followed(
            resource.namespace, resource.name, pod, resource.status.progress, time.monotonic()
        )

    def forget(self, uid: str) -> None:
        """Stop reading: the pod does not run any more."""
        self._followed.pop(uid, None)

    async def run(self) -> None:
        """Read in turn, for ever."""
        while True:
            started = time.monotonic()
            keys = list(self._followed)
            gate = asyncio.Semaphore(READERS)
            await asyncio.gather(*(self._read(gate, key) for key in keys))
            pause = max(INTERVAL, len(keys) / self._qps) - (time.monotonic() - started)
            await asyncio.sleep(max(0.1, pause))

    async def _read(self, gate: asyncio.Semaphore, uid: str) -> None:
        async with gate:
            followed = self._followed.get(uid)
            if followed is None:
                return
            tail = await read_tail(self._api, followed.namespace, followed.pod)
            if tail.progress is None or tail.progress == followed.written:
                return
            if self._followed.get(uid) is followed:
                await self._write(uid, followed, tail.progress)

    async def _write(self, uid: str, followed: _Followed, progress: Progress) -> None:
        metadata = {"namespace": followed.namespace, "name": followed.name, "uid": uid}
        status = {"progress": progress.to_wire()}
        try:
            body = await self._api.apply_status(
                metadata, status, names.PROGRESS_MANAGER, force=False
            )
        except ApiError as error:
            if error.status in {CONFLICT, NOT_FOUND}:  # it has ended, or is gone
                self.forget(uid)
            else:
                log.warning("progress of %s not written: %s", followed.name, error)
            return
        self._written(body)
        before, now = followed.written, time.monotonic()
        if before is not None and before.stage != progress.stage:
            self._stage_done(before.stage, now - followed.stage_since)
        if before is None or before.stage != progress.stage:
            followed.stage_since = now
        followed.written = progress
