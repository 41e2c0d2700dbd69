"""One list and one watch of each kind: what is reconciled, and which errors end the process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

import pytest

from modelexport_operator import watches
from modelexport_operator.cache import Cache
from modelexport_operator.client import EXPORTS
from modelexport_operator.queue import WorkQueue
from modelexport_operator.transport import PAGE, ApiError, Page, next_limit
from modelexport_operator.watches import WatchError, Watches, is_fatal
from unit.operator.objects import UID, Object, export_body, job_body

Event = dict[str, Any]


class Server:
    """Lists and watches of ModelExports from a script; there are no Jobs."""

    def __init__(self, lists: list[list[Object]], events: list[Event | ApiError]) -> None:
        self.lists = lists
        self.events = events
        self.listed = 0

    async def pages(
        self, root: str, namespace: str | None, plural: str, selector: str = ""
    ) -> AsyncIterator[Page]:
        if root != EXPORTS:
            yield Page([], "20")
            return
        self.listed += 1
        yield Page(self.lists[min(self.listed, len(self.lists)) - 1], "20")

    async def watch(
        self, path: str, resource: str, query: Mapping[str, str]
    ) -> AsyncGenerator[Event, None]:
        events = self.events if path.startswith(EXPORTS) else []
        while events:
            event = events.pop(0)
            if isinstance(event, ApiError):
                raise event
            yield event
        await asyncio.sleep(3_600)


class Children:
    """Records what the triggers learn."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def put_child(self, body: Mapping[str, Any]) -> None:
        self.known.add(body["metadata"]["uid"])

    def drop_child(self, uid: str) -> None:
        self.known.discard(uid)


class Seen:
    """The state after the first list and all events of the script."""

    def __init__(self, server: Server) -> None:
        self.now = 0.0
        self.cache, self.children = Cache(), Children()
        self.queue = WorkQueue(lambda: self.now)
        self.restarts: list[tuple[str, str]] = []
        self._server = server
        asyncio.run(self._run())

    async def _run(self) -> None:
        found = Watches(
            api=self._server,
            cache=self.cache,
            queue=self.queue,
            namespaces=[],
            relist_seconds=300,
            children=self.children,
            restarted=lambda *what: self.restarts.append(what),
        )
        running = asyncio.create_task(found.run())
        await found.first()
        self.due_at_start = self.queue.depth()
        for _ in range(200):
            if not self._server.events and self._server.listed >= len(self._server.lists):
                break
            await asyncio.sleep(0.005)
        for _ in range(10):
            await asyncio.sleep(0)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


def other(name: str, version: str = "10") -> Object:
    return export_body(uid=name, name=name, resourceVersion=version)


def event(kind: str, body: Object) -> Event:
    return {"type": kind, "object": body}


BROKEN: Object = {"metadata": {"uid": "broken", "name": "broken"}}


def test_everything_is_listed_once_and_then_reconciled() -> None:
    server = Server([[BROKEN, export_body(), other("b")]], [])
    seen = Seen(server)
    assert server.listed == 1
    assert seen.due_at_start == 2
    assert set(seen.cache.live()) == {UID, "b"}
    assert seen.children.known == {UID, "b"}


def test_news_is_reconciled_and_repeated_events_are_not() -> None:
    added = event("ADDED", other("b", "21"))
    seen = Seen(Server([[]], [added, added, event("DELETED", other("b", "22"))]))
    assert seen.queue.depth() == 1
    assert seen.cache.live() == []
    assert seen.children.known == set()


def test_after_an_error_everything_is_listed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "FIRST_PAUSE", 0.01)
    lost = ApiError(500, "InternalError", "no")
    seen = Seen(Server([[export_body(), other("b")], [export_body()]], [lost]))
    assert seen.cache.live() == [UID]
    assert seen.children.known == {UID}
    assert seen.restarts == [("modelexports", "InternalError")]


def test_a_missing_job_is_reconciled() -> None:
    cache = Cache()
    cache.put_job(job_body())
    assert set(watches.JobSink(cache).keep(set(), "30", None)) == {UID}


@pytest.mark.parametrize(
    ("status", "seconds", "fatal"),
    [(403, 5, False), (403, 31, True), (404, 31, True), (401, 31, True)]
    + [(status, 9_999, False) for status in (0, 409, 410, 429, 500, 503)],
)
def test_only_what_a_person_must_change_ends_the_process(
    status: int, seconds: float, fatal: bool
) -> None:
    assert is_fatal(status, seconds) == fatal


def test_a_fatal_error_says_what_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "FATAL_SECONDS", 0.0)
    with pytest.raises(WatchError, match=r"modelexports .*403 Forbidden: no; check .* role"):
        Seen(Server([[]], [ApiError(403, "Forbidden", "no")]))


@pytest.mark.parametrize(
    ("size", "objects", "limit"),
    [(50_000, 25, PAGE), (25 * 2**20, 25, 8), (20 * 2**20, 1, 1), (200, 0, PAGE)],
    ids=["small objects", "1 MiB each", "larger than a chunk", "none"],
)
def test_chunks_of_a_list_are_limited_by_the_size_of_its_objects(
    size: int, objects: int, limit: int
) -> None:
    assert next_limit(size, objects, PAGE) == limit
