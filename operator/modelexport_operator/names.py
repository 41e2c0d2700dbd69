"""Labels, annotations and field managers: the names by which the operator recognises its own."""

from __future__ import annotations

from modelexport_api import GROUP

NAME_LABEL = f"{GROUP}/name"
UID_LABEL = f"{GROUP}/uid"
"""On Jobs and pods: the ModelExport's uid. Watches select by it."""

GENERATION_ANNOTATION = f"{GROUP}/generation"
"""On Jobs: the generation of the spec that the Job was made from."""

RUN_ANNOTATION = f"{GROUP}/run"
"""On Jobs: 1, or 2 for the Job that replaces one whose result was lost."""

FAILURE_ANNOTATION = f"{GROUP}/failure"
"""On Jobs that the operator stopped: why, as a Failure in JSON. Written with the stop itself."""

CONTROLLER_UID_LABEL = "batch.kubernetes.io/controller-uid"
"""On pods, by Kubernetes: the uid of their Job."""

STATUS_MANAGER = "modelexport-operator"
PROGRESS_MANAGER = "modelexport-progress"
COMPONENT = "modelexport-operator"
