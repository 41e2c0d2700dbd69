"""List a collection, then watch it: large objects, many objects, resources that may be missing.

A failure raises an `ApiError`; the caller reports it and follows the stream again. Objects are not
stored: each is passed on when it is observed.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from modelexport_operator.transport import ApiError, Page, collection

Body = dict[str, Any]
_GONE = 410
"""The version is too old to watch from."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Collection:
    """The collection to list and watch. Lists of built-in kinds omit `kind`; it is added."""

    root: str
    resource: str
    namespace: str | None
    selector: str = ""
    api_version: str = ""
    kind: str = ""


@dataclass(frozen=True)
class StreamUpdate:
    """Observed objects. `deleted`: the last state of deleted objects.

    `complete`: the end of a list of this version; objects that were in none of its parts do not
    exist.
    """

    objects: tuple[Body, ...] = ()
    deleted: bool = False
    listed: bool = False
    complete: bool = False
    version: str = ""


class ListWatchApi(Protocol):
    """The part of the API that a stream needs."""

    def pages(
        self, root: str, namespace: str | None, plural: str, selector: str = ""
    ) -> AsyncIterator[Page]:
        """List a collection in chunks."""

    def watch(
        self, path: str, resource: str, query: Mapping[str, str]
    ) -> AsyncGenerator[Body, None]:
        """Yield the events of one watch."""


class Stream:
    """One collection. It can be followed again after an error without missing events.

    The watch resumes from its last version, not from that of a later list: an object that was
    deleted in between is not in the list, but the watch reports it.
    """

    def __init__(
        self,
        api: ListWatchApi,
        what: Collection,
        relist_seconds: float,
        expired: Callable[[], None] = lambda: None,
    ) -> None:
        self._api = api
        self._relist_seconds = relist_seconds
        self._expired = expired
        self._version = ""
        self.what = what
        self.last_answer = time.monotonic()
        """When the API server last answered, with or without an object."""

    async def follow(self) -> AsyncGenerator[StreamUpdate, None]:
        """Yield the existing objects, then their changes. Raises ApiError if that fails."""
        what = self.what
        while True:
            version = ""
            pages = self._api.pages(what.root, what.namespace, what.resource, what.selector)
            async for page in pages:
                version = page.version
                self.last_answer = time.monotonic()
                yield StreamUpdate(
                    tuple(_with_kind(what, body) for body in page.items), listed=True
                )
            yield StreamUpdate(listed=True, complete=True, version=version)
            self._version = self._version or version
            try:
                async with aclosing(self._watch()) as updates:
                    async for update in updates:
                        yield update
            except ApiError as error:
                if error.status != _GONE:
                    raise
                log.info("the watch on %s expired, listing again", what.resource)
                self._expired()
                self._version = ""

    async def _watch(self) -> AsyncGenerator[StreamUpdate, None]:
        what = self.what
        path = collection(what.root, what.namespace, what.resource)
        query = {"allowWatchBookmarks": "true"}
        if what.selector:
            query["labelSelector"] = what.selector
        jitter = random.uniform(0.8, 1.2)  # noqa: S311 - replicas and collections spread out
        until = time.monotonic() + self._relist_seconds * jitter
        while time.monotonic() < until:
            since = {**query, "resourceVersion": self._version}
            async with aclosing(self._api.watch(path, what.resource, since)) as events:
                async for event in events:
                    self.last_answer = time.monotonic()
                    kind, body = event["type"], event["object"]
                    if kind == "ERROR":
                        raise _to_error(body)
                    if kind != "BOOKMARK":
                        yield StreamUpdate((_with_kind(what, body),), deleted=kind == "DELETED")
                    # Only after the caller processed it: otherwise the event is sent again.
                    self._version = body["metadata"]["resourceVersion"]
            self.last_answer = time.monotonic()


def _to_error(body: Body) -> ApiError:
    return ApiError(body.get("code") or 0, body.get("reason") or "", body.get("message") or "")


def _with_kind(what: Collection, body: Body) -> Body:
    """Return the object with its kind, which lists of built-in kinds leave out."""
    if not what.kind:
        return body
    return {"apiVersion": what.api_version, "kind": what.kind, **body}
