"""Keep the cache complete: one list and one watch for ModelExports and for Jobs.

A failure that may pass (no answer, too many requests, an expired watch) is retried for as long as
it takes. One that only a person can change (no permission, no such resource) ends the process
after a grace period, in which a CRD may be installed again: an operator that sees nothing must not
look healthy.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Protocol

from modelexport_api import PLURAL
from modelexport_operator import names
from modelexport_operator.cache import Cache
from modelexport_operator.client import EXPORTS, JOBS
from modelexport_operator.queue import WorkQueue
from modelexport_operator.stream import Collection, ListWatchApi, Stream, StreamUpdate
from modelexport_operator.transport import ApiError

FATAL = {400, 401, 403, 404}
FATAL_SECONDS = 30.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
_EXPIRED = "Expired"

log = logging.getLogger(__name__)
Body = Mapping[str, Any]
Restarted = Callable[[str, str], None]
"""Called with the resource and the reason of each watch that is started again."""


class WatchError(Exception):
    """A watch failed for a reason that does not pass."""


class Children(Protocol):
    """Who else wants to know about ModelExports: the triggers, which created some of them."""

    def put_child(self, body: Body) -> None:
        """Store a ModelExport."""

    def drop_child(self, uid: str) -> None:
        """Remove a deleted ModelExport."""


class Sink(Protocol):
    """What is done with the objects of a watch."""

    def put(self, body: Body) -> str | None:
        """Store an object; return the uid of the ModelExport to reconcile if it is news."""

    def drop(self, body: Body) -> str:
        """Remove a deleted object; return the uid of the ModelExport to reconcile."""

    def keep(self, seen: Iterable[str], version: str, namespace: str | None) -> Iterable[str]:
        """Remove what is in no complete list; return the uids of the ModelExports to reconcile."""


class ExportSink:
    """Stores ModelExports."""

    def __init__(self, cache: Cache, children: Children) -> None:
        self._cache = cache
        self._children = children

    def put(self, body: Body) -> str | None:
        """Store a ModelExport."""
        uid: str = body["metadata"]["uid"]
        found = uid if self._cache.put_resource(body) else None
        self._children.put_child(body)
        return found

    def drop(self, body: Body) -> str:
        """Remove a deleted ModelExport."""
        uid: str = body["metadata"]["uid"]
        self._children.drop_child(uid)
        self._cache.drop_resource(uid)
        return uid

    def keep(self, seen: Iterable[str], version: str, namespace: str | None) -> Iterable[str]:
        """Remove the ModelExports that are not in a complete list."""
        removed = self._cache.keep_resources(seen, version, namespace)
        for uid in removed:
            self._children.drop_child(uid)
        return removed


class JobSink:
    """Stores Jobs."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def put(self, body: Body) -> str | None:
        """Store a Job."""
        return self._cache.put_job(body)

    def drop(self, body: Body) -> str:
        """Remove a deleted Job."""
        return self._cache.drop_job(body)

    def keep(self, seen: Iterable[str], version: str, namespace: str | None) -> Iterable[str]:
        """Remove the Jobs that are not in a complete list."""
        return self._cache.keep_jobs(seen, version, namespace)


class Watch:
    """One collection, watched until the process ends."""

    def __init__(
        self, stream: Stream, sink: Sink, cache: Cache, queue: WorkQueue, restarted: Restarted
    ) -> None:
        self._stream = stream
        self._sink = sink
        self._cache = cache
        self._queue = queue
        self._restarted = restarted
        self._seen: set[str] = set()
        self._failing_since: float | None = None
        self._pause = FIRST_PAUSE
        self.listed = asyncio.Event()
        self.last_list = time.monotonic()

    @property
    def silent(self) -> float:
        """Return the seconds since the API server last answered."""
        return time.monotonic() - self._stream.last_answer

    def reset_age(self) -> None:
        """Count the time from now: a replica may wait for days until it is the leader."""
        self.last_list = self._stream.last_answer = time.monotonic()

    async def run(self) -> None:
        """Watch until cancelled. Raises WatchError."""
        while True:
            self._seen = set()
            try:
                async with aclosing(self._stream.follow()) as updates:
                    async for update in updates:
                        self._failing_since, self._pause = None, FIRST_PAUSE
                        self._store(update)
            except ApiError as error:
                self._fail(error)
            await asyncio.sleep(self._pause)
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)

    def _store(self, update: StreamUpdate) -> None:
        for body in update.objects:
            uid = body["metadata"]["uid"]
            if update.listed:
                self._seen.add(uid)
            change = self._sink.drop if update.deleted else self._sink.put
            try:
                found = change(body)
            except Exception:  # an invalid object must not block the others
                log.exception("failed to read object", extra=_identify(body))
                continue
            # At the start, everything is listed before anything is reconciled.
            if found and (self.listed.is_set() or not update.listed):
                self._queue.add(found)
        if update.complete:
            self._complete(update.version)

    def _complete(self, version: str) -> None:
        for uid in self._sink.keep(self._seen, version, self._stream.what.namespace):
            self._queue.add(uid)
        self._seen = set()
        self.last_list = time.monotonic()
        if self.listed.is_set():
            for uid in self._cache.live():
                self._queue.add(uid)
        self.listed.set()

    def _fail(self, error: ApiError) -> None:
        now, resource = time.monotonic(), self._stream.what.resource
        self._failing_since = now if self._failing_since is None else self._failing_since
        self._restarted(resource, error.reason or str(error.status))
        if is_fatal(error.status, now - self._failing_since):
            raise WatchError(
                f"failed to watch {resource} for {now - self._failing_since:.0f} s: {error}; "
                "check that the CRDs of this version are installed and that the operator's role "
                "has the permissions of its chart"
            ) from error
        log.warning("failed to watch %s: %s, retrying in %.0f s", resource, error, self._pause)


class Watches:
    """All watches on ModelExports and Jobs."""

    def __init__(
        self,
        *,
        api: ListWatchApi,
        cache: Cache,
        queue: WorkQueue,
        namespaces: list[str],
        relist_seconds: float,
        children: Children,
        restarted: Restarted,
    ) -> None:
        self._cache = cache
        self._queue = queue
        self._running = False
        exports, jobs = ExportSink(cache, children), JobSink(cache)
        self._watches: list[Watch] = []
        scopes: list[str | None] = [*namespaces] or [None]
        for namespace in scopes:
            found: list[tuple[Collection, Sink]] = [
                (Collection(JOBS, "jobs", namespace, names.UID_LABEL), jobs),
                (Collection(EXPORTS, PLURAL, namespace), exports),
            ]
            for what, sink in found:
                stream = Stream(api, what, relist_seconds, _count_expired(restarted, what))
                self._watches.append(Watch(stream, sink, cache, queue, restarted))

    @property
    def silent(self) -> float:
        """Return for how many seconds the API server did not answer on a watch."""
        if not self._running:
            return 0.0
        return max(watch.silent for watch in self._watches)

    @property
    def list_age(self) -> float:
        """Return the seconds since the oldest of the last complete lists; 0 before the start."""
        if not self._running:
            return 0.0
        return time.monotonic() - min(watch.last_list for watch in self._watches)

    async def run(self) -> None:
        """Watch until cancelled. Raises WatchError."""
        self._running = True
        for watch in self._watches:
            watch.reset_age()
        await asyncio.gather(*(watch.run() for watch in self._watches))

    async def first(self) -> None:
        """Wait until everything has been listed once; then reconcile what needs it."""
        for watch in self._watches:
            await watch.listed.wait()
        for uid in self._cache.live():
            self._queue.add(uid)


def is_fatal(status: int, failing_seconds: float) -> bool:
    """Return whether a watch that has failed for this long can only be repaired by a person."""
    return status in FATAL and failing_seconds >= FATAL_SECONDS


def _count_expired(restarted: Restarted, what: Collection) -> Callable[[], None]:
    return lambda: restarted(what.resource, _EXPIRED)


def _identify(body: Body) -> dict[str, dict[str, str]]:
    meta = body["metadata"]
    return {"fields": {key: meta.get(key, "") for key in ("namespace", "name", "uid")}}
