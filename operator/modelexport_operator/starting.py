"""A pod that is on a node and whose containers do not start: what it waits for.

The kubelet waits without limit for a volume: for a ConfigMap or Secret that does not exist, or a
disk that cannot be attached. The status of the pod does not say so; only the pod's Events do. They
are read once the pod is late, and describe it; the export does not fail, since what is missing may
still be created.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from modelexport_api.waits import Wait
from modelexport_operator import clock
from modelexport_operator.client import EVENTS
from modelexport_operator.failures import CANNOT_START
from modelexport_operator.pods import ObservedPod, Obstacle
from modelexport_operator.read_api import ReadApi
from modelexport_operator.transport import ApiError, collection

PULLING = "Pulling"
"""Reason while a large image is being pulled, and of the kubelet's Event: nothing is missing."""

Object = Mapping[str, Any]
_LIMIT = 50
_OF_SCHEDULER = {"Scheduled", "FailedScheduling"}
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def is_late(pod: ObservedPod, now: datetime, grace: timedelta) -> bool:
    """Return whether a pod has been on its node for longer than the grace without starting."""
    if pod.ended or pod.running or not pod.scheduled or pod.waiting_reason in CANNOT_START:
        return False
    since = pod.scheduled_at or pod.created
    return since is not None and since + grace <= now


async def read_obstacle(api: ReadApi, namespace: str, pod: ObservedPod) -> Obstacle:
    """Return why a late pod does not start, from its Events; a general sentence without them."""
    query = {"fieldSelector": f"regarding.uid={pod.uid}", "limit": str(_LIMIT)}
    try:
        found = await api.call(
            "GET", collection(EVENTS, namespace, "events"), "events", query=query
        )
    except ApiError:
        found = {}
    return describe(pod, found.get("items") or [])


def describe(pod: ObservedPod, events: Sequence[Object]) -> Obstacle:
    """Return why a pod does not start: the last Warning, unless there was progress after it.

    Of several Warnings since then one that names what was not found is preferred: the kubelet also
    reports that the wait for all volumes timed out.
    """
    warnings: list[str] = []
    progress: Object = {}
    for event in sorted(events, key=_time):
        if event.get("reason") in _OF_SCHEDULER:
            continue
        if event.get("type") == "Normal":
            warnings.clear()
            progress = event
        elif event.get("note"):
            warnings.append(f"{event.get('reason')}: {event['note']}")
    if warnings:
        named = [text for text in warnings if "not found" in text]
        text = f"pod {pod.name} waits on its node: {(named or warnings)[-1]}"
        return Obstacle(Wait.POD_NOT_STARTED, text)
    if progress.get("reason") == PULLING:
        return Obstacle(PULLING, f"pod {pod.name}: {progress.get('note', PULLING)}")
    state = f" ({pod.waiting_reason})" if pod.waiting_reason else ""
    text = f"pod {pod.name} is on a node and its container has not started{state}"
    return Obstacle(Wait.POD_NOT_STARTED, text)


def _time(event: Object) -> datetime:
    """Return when an Event was last seen; kubelets write the fields of the older API."""
    series = (event.get("series") or {}).get("lastObservedTime")
    texts = (series, event.get("deprecatedLastTimestamp"), event.get("eventTime"))
    found = next((clock.parse(text) for text in texts if text), None)
    made = clock.parse((event.get("metadata") or {}).get("creationTimestamp"))
    return found or made or _BEGINNING
