"""Labels, annotations and field managers: the names by which the operator recognises its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modelexport_api import API_VERSION, GROUP

NAME_LABEL = f"{GROUP}/name"
UID_LABEL = f"{GROUP}/uid"
"""On Jobs and pods: the ModelExport's uid. Watches select by it."""

RUN_ANNOTATION = f"{GROUP}/run"
"""On Jobs: 1, or 2 for the Job that replaces one whose result was lost."""

FAILURE_ANNOTATION = f"{GROUP}/failure"
"""On Jobs that the operator stopped: why, as a Failure in JSON. Written with the stop itself."""

QUEUE_PREFIX = "kueue.x-k8s.io/"
"""Labels of a ModelExport that travel to its Job: queue, priority, and what else Kueue reads."""

QUEUE_LABEL = f"{QUEUE_PREFIX}queue-name"

INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count"
"""On the pods of an Indexed Job, by Kubernetes."""

CONTROLLER_UID_LABEL = "batch.kubernetes.io/controller-uid"
"""On pods, by Kubernetes: the uid of their Job."""

STATUS_MANAGER = "modelexport-operator"
SEEN_MANAGER = "modelexport-seen"
PROGRESS_MANAGER = "modelexport-progress"
COMPONENT = "modelexport-operator"

LIMIT = 63
"""Of labels' values, and of names that become labels, as a Job's does on its pods."""


def fitted(name: str, suffix: str = "") -> str:
    """Return a name with its suffix, cut where it is too long."""
    return name[: LIMIT - len(suffix)].rstrip("-.") + suffix


def queue_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return what Kueue reads."""
    return {key: value for key, value in labels.items() if key.startswith(QUEUE_PREFIX)}


def owner(kind: str, name: str, uid: str) -> dict[str, Any]:
    """Return the reference to the object of ours that owns another."""
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        # It would need a right on the finalizers of the owner's kind, for nothing.
        "blockOwnerDeletion": False,
    }
