"""List a collection, then watch it, for ever: a resource that may be missing, or be forbidden.

A watch of kopf on a resource that it may not read ends the process, and one that is installed
later is not seen. Here both are an `ApiError` for whoever iterates, who tells people and tries
again. Nothing is kept: each object is handed on as it is seen.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from modelexport_operator.client import ApiError, Page, collection

Body = dict[str, Any]
_GONE = 410
"""The version is too old to watch from."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Collection:
    """What is listed and watched. `kind` is written into what a list leaves out."""

    root: str
    resource: str
    namespace: str | None
    selector: str = ""
    api_version: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Seen:
    """Objects as they were seen. `gone`: this is the last state of what was deleted.

    `complete`: with these a list has ended; what was in none of its parts is not there.
    """

    objects: tuple[Body, ...] = ()
    gone: bool = False
    listed: bool = False
    complete: bool = False


class Reads(Protocol):
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
    """One collection. It may be followed again after an error, and has missed nothing then.

    The watch goes on where it was cut, whatever lists say meanwhile: what was deleted in between
    is in no list, and still told by the watch.
    """

    def __init__(self, api: Reads, what: Collection, relist_seconds: float) -> None:
        self._api = api
        self._relist_seconds = relist_seconds
        self._version = ""
        self.what = what

    async def follow(self) -> AsyncGenerator[Seen, None]:
        """Yield what is there, then what happens. Raises ApiError when it cannot go on."""
        what = self.what
        while True:
            version = ""
            pages = self._api.pages(what.root, what.namespace, what.resource, what.selector)
            async for page in pages:
                version = page.version
                yield Seen(tuple(_named(what, body) for body in page.items), listed=True)
            yield Seen(listed=True, complete=True)
            self._version = self._version or version
            try:
                async with aclosing(self._watched()) as watched:
                    async for seen in watched:
                        yield seen
            except ApiError as error:
                if error.status != _GONE:
                    raise
                log.info("the watch on %s has expired; listing again", what.resource)
                self._version = ""

    async def _watched(self) -> AsyncGenerator[Seen, None]:
        what = self.what
        path = collection(what.root, what.namespace, what.resource)
        query = {"allowWatchBookmarks": "true"}
        if what.selector:
            query["labelSelector"] = what.selector
        until = time.monotonic() + self._relist_seconds
        while time.monotonic() < until:
            since = {**query, "resourceVersion": self._version}
            async with aclosing(self._api.watch(path, what.resource, since)) as events:
                async for event in events:
                    kind, body = event["type"], event["object"]
                    if kind == "ERROR":
                        raise _refusal(body)
                    if kind != "BOOKMARK":
                        yield Seen((_named(what, body),), gone=kind == "DELETED")
                    # Only now: what was not dealt with is told again.
                    self._version = body["metadata"]["resourceVersion"]


def _refusal(body: Body) -> ApiError:
    return ApiError(body.get("code") or 0, body.get("reason") or "", body.get("message") or "")


def _named(what: Collection, body: Body) -> Body:
    """Return the object with its kind, which lists of built-in kinds leave out."""
    if not what.kind:
        return body
    return {"apiVersion": what.api_version, "kind": what.kind, **body}
