"""List, watch, and list again: the updates that a stream yields."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

import pytest

from modelexport_operator.stream import Collection, Stream, StreamUpdate
from modelexport_operator.transport import ApiError, Page

JOBS = Collection("/apis/batch/v1", "jobs", "team", "app=x", "batch/v1", "Job")
Event = dict[str, Any]


def body(name: str, version: str) -> Event:
    return {"metadata": {"name": name, "resourceVersion": version}}


def event(kind: str, name: str, version: str) -> Event:
    return {"type": kind, "object": body(name, version)}


EXPIRED = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}
DENIED = {"type": "ERROR", "object": {"code": 403, "reason": "Forbidden", "message": "no"}}


class Server:
    """Answers lists and watches from a script, and records the requests."""

    def __init__(self, lists: list[list[Page]], watches: list[list[Event]]) -> None:
        self.lists = lists
        self.watches = watches
        self.asked: list[str] = []

    async def pages(
        self, root: str, namespace: str | None, plural: str, selector: str = ""
    ) -> AsyncIterator[Page]:
        self.asked.append(f"list {root}/{namespace}/{plural}?{selector}")
        for page in self.lists.pop(0):
            yield page

    async def watch(
        self, path: str, resource: str, query: Mapping[str, str]
    ) -> AsyncGenerator[Event, None]:
        self.asked.append(f"watch {path} from {query['resourceVersion']}")
        assert query["labelSelector"] == "app=x"
        for entry in self.watches.pop(0):
            yield entry


def seen(server: Server, count: int, relist: float = 60) -> list[StreamUpdate]:
    return taken(Stream(server, JOBS, relist), count)


def taken(stream: Stream, count: int) -> list[StreamUpdate]:
    async def take() -> list[StreamUpdate]:
        found: list[StreamUpdate] = []
        async with aclosing(stream.follow()) as batches:
            async for batch in batches:
                found.append(batch)
                if len(found) == count:
                    break
        return found

    return asyncio.run(take())


def names(batches: list[StreamUpdate]) -> list[list[str]]:
    return [[entry["metadata"]["name"] for entry in batch.objects] for batch in batches]


TWO_PAGES = [Page([body("a", "1"), body("b", "2")], "9"), Page([body("c", "3")], "9")]
ONE_PAGE = [Page([body("d", "20")], "21")]


def test_existing_objects_come_first_in_chunks_with_their_kind() -> None:
    found = seen(Server([TWO_PAGES], []), 3)
    assert names(found) == [["a", "b"], ["c"], []]
    assert [batch.complete for batch in found] == [False, False, True]
    assert found[0].objects[0]["kind"] == "Job"
    assert found[0].objects[0]["apiVersion"] == "batch/v1"


def test_a_watch_starts_at_the_list_s_version_and_resumes_at_its_own() -> None:
    first = [event("ADDED", "d", "10"), event("BOOKMARK", "", "15")]
    second = [event("MODIFIED", "d", "16"), event("DELETED", "d", "17")]
    server = Server([TWO_PAGES], [first, [], second])
    found = seen(server, 6)
    assert names(found)[3:] == [["d"], ["d"], ["d"]]
    assert [batch.deleted for batch in found[3:]] == [False, False, True]
    path = "/apis/batch/v1/namespaces/team/jobs"
    assert server.asked[1:] == [f"watch {path} from {n}" for n in ("9", "15", "15")]


def test_after_an_expired_watch_everything_is_listed_again() -> None:
    server = Server([TWO_PAGES, ONE_PAGE], [[event("ADDED", "d", "10"), EXPIRED]])
    assert names(seen(server, 6)) == [["a", "b"], ["c"], [], ["d"], ["d"], []]


def test_everything_is_listed_periodically() -> None:
    server = Server([TWO_PAGES, ONE_PAGE], [])
    assert names(seen(server, 5, relist=0)) == [["a", "b"], ["c"], [], ["d"], []]


def test_an_error_event_of_a_watch_is_raised() -> None:
    with pytest.raises(ApiError) as caught:
        seen(Server([TWO_PAGES], [[DENIED]]), 4)
    assert caught.value.status == 403


def test_following_again_after_an_error_misses_no_event() -> None:
    """An object that completed and was deleted is in no list; the watch reports it."""
    lost = [event("MODIFIED", "e", "30"), event("DELETED", "e", "31")]
    server = Server([TWO_PAGES, ONE_PAGE], [[event("ADDED", "d", "10"), DENIED], lost])
    stream = Stream(server, JOBS, 60)
    with pytest.raises(ApiError):
        taken(stream, 5)
    assert names(taken(stream, 4)) == [["d"], [], ["e"], ["e"]]
    assert server.asked[-1].endswith("from 10")


def test_an_unprocessed_event_is_sent_again() -> None:
    events = [event("ADDED", "d", "10"), event("DELETED", "d", "11")]
    server = Server([TWO_PAGES, ONE_PAGE], [events, events[1:]])
    stream = Stream(server, JOBS, 60)
    taken(stream, 5)  # the reader stops while it processes the second event
    assert names(taken(stream, 3)) == [["d"], [], ["d"]]
    assert server.asked[-1].endswith("from 10")
