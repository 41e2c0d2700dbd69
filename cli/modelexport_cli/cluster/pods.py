"""Which pod of an export is meant. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_api import GROUP
from modelexport_api.pod import CONTAINER
from modelexport_cli.cluster.errors import ClusterError

UID_LABEL = f"{GROUP}/uid"
"""On pods: the uid of their ModelExport."""
_INDEX = "batch.kubernetes.io/job-completion-index"
_MOST_LISTED = 20


@dataclass(frozen=True)
class Pod:
    """A pod of an export."""

    name: str
    index: int | None
    """The share of a batch."""
    created: str
    started: bool
    """Whether its container runs or has run, so that there is a log."""
    ended: bool
    waiting: str
    """Why its container does not run."""


def observe_pod(body: Mapping[str, Any]) -> Pod:
    """Return the pod in an object from the API server."""
    meta, status = body["metadata"], body.get("status") or {}
    index = (meta.get("annotations") or {}).get(_INDEX)
    containers = status.get("containerStatuses") or []
    state: Mapping[str, Any] = next(
        (c.get("state") or {} for c in containers if c.get("name") == CONTAINER), {}
    )
    return Pod(
        name=meta["name"],
        index=int(index) if index is not None else None,
        created=meta.get("creationTimestamp") or "",
        started="running" in state or "terminated" in state,
        ended="terminated" in state or status.get("phase") in {"Succeeded", "Failed"},
        waiting=_waiting(state, status),
    )


def choose(pods: Iterable[Pod], index: int | None, *, shares: int | None) -> Pod | None:
    """Return the latest pod, of a share if one is chosen; None if there is none.

    `shares`: how many shares a batch has, None for one checkpoint. Raises ClusterError.
    """
    if shares is None and index is not None:
        raise ClusterError(
            f"--index {index}: this ModelExport exports one checkpoint and has no shares",
            "Leave out --index.",
        )
    if shares is not None and index is None and shares > 1:
        raise ClusterError(
            f"this batch has {shares} shares, each with a pod of its own",
            f"Choose one by --index 0 to --index {shares - 1}.{_running(pods)}",
        )
    if shares is not None and index is not None and not 0 <= index < shares:
        raise ClusterError(
            f"--index {index}: this batch has {shares} shares", f"Choose 0 to {shares - 1}."
        )
    found = [pod for pod in pods if index is None or pod.index == index]
    return max(found, key=lambda pod: (pod.created, not pod.ended, pod.name), default=None)


def _running(pods: Iterable[Pod]) -> str:
    running = sorted({pod.index for pod in pods if pod.index is not None and not pod.ended})
    listed = ", ".join(map(str, running[:_MOST_LISTED]))
    more = ", …" if len(running) > _MOST_LISTED else ""
    return f" Running: {listed}{more}." if running else ""


def _waiting(state: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    waiting = state.get("waiting") or {}
    if waiting:
        return ": ".join(filter(None, (waiting.get("reason"), waiting.get("message"))))
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return ": ".join(filter(None, (condition.get("reason"), condition.get("message"))))
    return ""
