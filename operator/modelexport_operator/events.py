"""Kubernetes Events on transitions, each told once, also by an operator that was restarted.

An Event's name is a hash of what it tells about: the API server answers 409 to the second one.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any, Protocol

from modelexport_api import API_VERSION, KIND
from modelexport_operator import names
from modelexport_operator.client import CONFLICT, ApiError
from modelexport_operator.decisions import Event

NOTE_BYTES = 1024
REMEMBERED = 10_000

log = logging.getLogger(__name__)


class Creates(Protocol):
    """The part of the API that events need."""

    async def create_event(self, event: dict[str, Any]) -> None:
        """Create an Event."""


class Subject(Protocol):
    """What an Event is about."""

    @property
    def uid(self) -> str:
        """Return its uid."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def namespace(self) -> str:
        """Return its namespace."""


class Recorder:
    """Tells each Event once. An Event that cannot be told is logged and never stops the work."""

    def __init__(self, api: Creates, instance: str) -> None:
        self._api = api
        self._instance = instance
        self._told: OrderedDict[str, None] = OrderedDict()

    async def tell(self, about: Subject, events: tuple[Event, ...], kind: str = KIND) -> None:
        """Create the Events that are not there yet."""
        for event in events:
            body = manifest(about, event, self._instance, datetime.now(UTC), kind)
            name = body["metadata"]["name"]
            if name in self._told:
                continue
            try:
                await self._api.create_event(body)
            except ApiError as error:
                if error.status != CONFLICT:
                    log.warning("event %s not recorded: %s", event.reason, error)
                    continue
            self._told[name] = None
            if len(self._told) > REMEMBERED:
                self._told.popitem(last=False)


def manifest(
    about: Subject, event: Event, instance: str, now: datetime, kind: str = KIND
) -> dict[str, Any]:
    """Return the Event as an object of events.k8s.io/v1."""
    text = f"{about.uid}/{event.reason}/{event.about}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": f"{about.name[:200].rstrip('-.')}.{digest}",
            "namespace": about.namespace,
        },
        "eventTime": now.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "reportingController": names.COMPONENT,
        "reportingInstance": instance[:128],
        "action": "Reconcile",
        "type": event.type,
        "reason": event.reason,
        "note": _cut(event.message, NOTE_BYTES) or event.reason,
        "regarding": {
            "apiVersion": API_VERSION,
            "kind": kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
        },
    }


def _cut(text: str, length: int) -> str:
    """Cut to so many bytes of UTF-8: the API server counts bytes here, not characters."""
    encoded = text.encode()
    if len(encoded) <= length:
        return text
    return encoded[: length - 3].decode(errors="ignore") + "…"
