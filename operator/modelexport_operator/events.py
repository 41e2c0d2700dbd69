"""Kubernetes Events on transitions, each created once, even if the operator restarts.

The name of an Event is a hash of object, reason and key: the API server answers 409 to a second
creation. In a namespace that is being deleted nothing can be created, so that no Event is recorded
there.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any, Protocol

from modelexport_api import API_VERSION, KIND
from modelexport_operator import clock, logs, names
from modelexport_operator.decisions import Decision, Event
from modelexport_operator.logs import Subject
from modelexport_operator.rejections import Cause
from modelexport_operator.transport import CONFLICT, ApiError

NOTE_BYTES = 1024
ATTEMPTS = 5
"""For the Event of an end; then the status is written without it."""
_EXISTS = "AlreadyExists"
_TOO_MANY, _SERVER_ERROR = 429, 500
REMEMBERED = 10_000

log = logging.getLogger(__name__)


class EventsApi(Protocol):
    """The part of the API that events need."""

    async def create_event(self, event: dict[str, Any]) -> None:
        """Create an Event."""


class EventRecorder:
    """Creates each Event once. If that fails, it logs a warning, and the caller decides."""

    def __init__(self, api: EventsApi, instance: str) -> None:
        self._api = api
        self._instance = instance
        self._recorded: OrderedDict[str, None] = OrderedDict()

    async def record(
        self, subject: Subject, events: tuple[Event, ...], kind: str = KIND
    ) -> ApiError | None:
        """Create the Events that do not exist yet; return an error that may pass."""
        passing = None
        for event in events:
            body = manifest(subject, event, self._instance, datetime.now(UTC), kind)
            name = body["metadata"]["name"]
            if name in self._recorded:
                continue
            try:
                await self._api.create_event(body)
            except ApiError as error:
                about = logs.about(subject, kind=kind, reason=event.reason)
                if error.cause is Cause.NAMESPACE_TERMINATING:  # nothing is wrong, and it stays so
                    log.info("no Event can be created: %s", error, extra=about)
                elif error.reason != _EXISTS:
                    log.warning("failed to create Event: %s", error, extra=about)
                    passing = error if may_pass(error) else passing
                    continue
            self._recorded[name] = None
            if len(self._recorded) > REMEMBERED:
                self._recorded.popitem(last=False)
        return passing


def are_needed(decision: Decision, failures: int) -> bool:
    """Return whether to try again first: without the Event of the end, nobody hears of it.

    Not for ever: that Events cannot be created must not hide the verdict.
    """
    ends = decision.status is not None and decision.status.completion_time is not None
    return ends and failures < ATTEMPTS


def may_pass(error: ApiError) -> bool:
    """Return whether the same request may succeed later: nothing is wrong with it."""
    return error.status in {0, CONFLICT, _TOO_MANY} or error.status >= _SERVER_ERROR


def manifest(
    subject: Subject, event: Event, instance: str, now: datetime, kind: str = KIND
) -> dict[str, Any]:
    """Return the Event as an object of events.k8s.io/v1."""
    text = f"{subject.uid}/{event.reason}/{event.key}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": f"{subject.name[:200].rstrip('-.')}.{digest}",
            "namespace": subject.namespace,
        },
        "eventTime": clock.format_micro(now),
        "reportingController": names.COMPONENT,
        "reportingInstance": instance[:128],
        "action": "Reconcile",
        "type": event.type,
        "reason": event.reason,
        "note": _truncate(event.message, NOTE_BYTES) or event.reason,
        "regarding": {
            "apiVersion": API_VERSION,
            "kind": kind,
            "namespace": subject.namespace,
            "name": subject.name,
            "uid": subject.uid,
        },
    }


def _truncate(text: str, length: int) -> str:
    """Truncate to `length` bytes of UTF-8: the API server counts bytes here, not characters."""
    encoded = text.encode()
    if len(encoded) <= length:
        return text
    return encoded[: length - 3].decode(errors="ignore") + "…"
