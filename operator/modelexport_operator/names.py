"""Labels, annotations and field managers that identify the operator's objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modelexport_api import API_VERSION, GROUP

NAME_LABEL = f"{GROUP}/name"
UID_LABEL = f"{GROUP}/uid"
"""On Jobs and pods: the ModelExport's uid. Watches select by this label."""

RUN_ANNOTATION = f"{GROUP}/run"
"""On Jobs: 1, or 2 for the Job that replaces one whose result was lost."""

FAILURE_ANNOTATION = f"{GROUP}/failure"
"""On Jobs that the operator stopped: the Failure as JSON, written together with the stop."""

QUEUE_PREFIX = "kueue.x-k8s.io/"
"""Labels of a ModelExport that are copied to its Job: queue, priority and others for Kueue."""

QUEUE_LABEL = f"{QUEUE_PREFIX}queue-name"

INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count"
"""On the pods of an Indexed Job, set by Kubernetes."""

CONTROLLER_UID_LABEL = "batch.kubernetes.io/controller-uid"
"""On pods, set by Kubernetes: the uid of their Job."""

STATUS_MANAGER = "modelexport-operator"
SEEN_MANAGER = "modelexport-seen"
PROGRESS_MANAGER = "modelexport-progress"
COMPONENT = "modelexport-operator"

LIMIT = 63
"""Maximum length of label values, and of names that become labels (a Job's, on its pods)."""


def fit_name(name: str, suffix: str = "") -> str:
    """Return a name with its suffix, truncated to the limit."""
    return name[: LIMIT - len(suffix)].rstrip("-.") + suffix


def queue_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that Kueue reads."""
    return {key: value for key, value in labels.items() if key.startswith(QUEUE_PREFIX)}


def owner(kind: str, name: str, uid: str) -> dict[str, Any]:
    """Return an owner reference to one of our objects."""
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        # True would require a permission on the finalizers of the owner's kind.
        "blockOwnerDeletion": False,
    }
