"""Labels, annotations and field managers: the names by which the operator recognises its own."""

from __future__ import annotations

from modelexport_api import GROUP

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
