"""History limits: which finished ModelExports of a trigger to delete.

Only ModelExports that the trigger owns and that have finished, and only if their completion is in
the ledger: otherwise it could be created again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_api.status import Phase
from modelexport_api.trigger import TRIGGER_KIND, HistoryLimits, ModelExportTriggerStatus
from modelexport_operator.triggers import labels, ledger


@dataclass(frozen=True)
class Child:
    """The fields of a ModelExport that the limits depend on."""

    uid: str
    namespace: str
    name: str
    phase: str
    ended: str
    completion: str


def observe_child(body: Mapping[str, Any]) -> tuple[str, Child] | None:
    """Return the uid of the owning trigger and the child; None if no trigger owns it."""
    meta, status = body["metadata"], body.get("status") or {}
    owners = [
        owner["uid"]
        for owner in meta.get("ownerReferences") or []
        if owner.get("kind") == TRIGGER_KIND and owner.get("controller")
    ]
    if not owners:
        return None
    child = Child(
        uid=meta["uid"],
        namespace=meta["namespace"],
        name=meta["name"],
        phase=status.get("phase") or "",
        ended=status.get("completionTime") or "",
        completion=(meta.get("annotations") or {}).get(labels.COMPLETION_ANNOTATION, ""),
    )
    return owners[0], child


def surplus(
    children: Iterable[Child], limits: HistoryLimits, status: ModelExportTriggerStatus
) -> list[Child]:
    """Return the children to delete, oldest first."""
    known = [child for child in children if child.completion]
    return [
        *_oldest(known, Phase.SUCCEEDED, limits.successful, status),
        *_oldest(known, Phase.FAILED, limits.failed, status),
    ]


def _oldest(
    children: list[Child], phase: Phase, limit: int | None, status: ModelExportTriggerStatus
) -> list[Child]:
    if limit is None:
        return []
    ended = sorted(
        (child for child in children if child.phase == phase and child.ended),
        key=lambda child: (child.ended, child.name),
    )
    oldest = ended[: max(0, len(ended) - limit)]
    return [child for child in oldest if ledger.is_done(status, child.completion)]
