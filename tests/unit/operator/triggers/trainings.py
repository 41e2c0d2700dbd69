"""Objects of training kinds, with the status that their controllers write."""

from __future__ import annotations

import copy
from typing import Any

from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from unit.api.trigger_manifests import TRIGGER

Object = dict[str, Any]
ENDED = "2026-05-01T12:00:00Z"


def condition(kind: str, status: str = "True", reason: str = "", when: str = ENDED) -> Object:
    found = {"type": kind, "status": status, "reason": reason or kind, "message": ""}
    return {**found, "lastTransitionTime": when}


def training(kind: str, status: Object, version: str = "batch/v1", **meta: Any) -> Object:  # noqa: ANN401
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {
            "name": "train-42",
            "namespace": "team",
            "uid": "uid-of-train-42",
            "creationTimestamp": "2026-05-01T11:00:00Z",
            "labels": {"app": "training", "queue": "gpu"},
            **meta,
        },
        "spec": {"env": [{"name": "OUT", "value": "s3://models/out/"}, {"name": "N", "value": 3}]},
        "status": status,
    }


SUCCEEDED: dict[str, Object] = {
    # SuccessCriteriaMet is set first, while pods are still ending.
    "Job": {
        "conditions": [
            condition("SuccessCriteriaMet", reason="CompletionsReached"),
            condition("Complete", reason="CompletionsReached"),
        ],
        "completionTime": ENDED,
        "succeeded": 1,
    },
    "TrainJob": {
        "conditions": [
            condition("Suspended", "False", "Resumed", "2026-05-01T11:01:00Z"),
            condition("Complete", reason="AllJobsCompleted"),
        ]
    },
    "PyTorchJob": {
        "conditions": [
            condition("Created", reason="PyTorchJobCreated", when="2026-05-01T11:00:01Z"),
            condition("Running", "False", "PyTorchJobRunning", "2026-05-01T11:05:00Z"),
            condition("Succeeded", reason="PyTorchJobSucceeded"),
        ],
        "completionTime": ENDED,
        "replicaStatuses": {"Master": {"succeeded": 1}, "Worker": {}},
    },
    "RayJob": {
        "jobId": "train-42-x7c2f",
        "jobStatus": "SUCCEEDED",
        "jobDeploymentStatus": "Complete",
        "startTime": "2026-05-01T11:00:01Z",
        "endTime": ENDED,
        "succeeded": 1,
        "failed": 0,
    },
    "JobSet": {
        "conditions": [
            condition("StartupPolicyCompleted", when="2026-05-01T11:05:00Z"),
            condition("Completed", reason="AllJobsCompleted"),
        ],
        "terminalState": "Completed",
        "restarts": 0,
    },
}

VERSIONS = {
    "Job": "batch/v1",
    "TrainJob": "trainer.kubeflow.org/v1alpha1",
    "PyTorchJob": "kubeflow.org/v1",
    "RayJob": "ray.io/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
}

# kind, state, status
UNFINISHED: list[tuple[str, str, Object]] = [
    *((kind, "is new", {}) for kind in VERSIONS),
    ("Job", "runs", {"active": 1, "startTime": ENDED}),
    ("Job", "is suspended", {"conditions": [condition("Suspended", reason="JobSuspended")]}),
    ("Job", "ends", {"conditions": [condition("SuccessCriteriaMet")], "terminating": 1}),
    (
        "Job",
        "failed",
        {"conditions": [condition("FailureTarget"), condition("Failed")], "failed": 4},
    ),
    ("TrainJob", "is suspended", {"conditions": [condition("Suspended")]}),
    ("TrainJob", "failed", {"conditions": [condition("Failed", reason="FailedJobs")]}),
    (
        "TrainJob",
        "has no runtime",
        {"conditions": [condition("Failed", reason="TrainingRuntimeNotSupported")]},
    ),
    ("PyTorchJob", "runs", {"conditions": [condition("Created"), condition("Running")]}),
    (
        "PyTorchJob",
        "restarts",
        {"conditions": [condition("Created"), condition("Restarting")]},
    ),
    (
        "PyTorchJob",
        "is suspended",
        {"conditions": [condition("Running", "False"), condition("Suspended")]},
    ),
    (
        "PyTorchJob",
        "failed",
        {
            "conditions": [condition("Running", "False"), condition("Failed")],
            "completionTime": ENDED,
        },
    ),
    ("RayJob", "waits", {"jobDeploymentStatus": "Initializing", "jobStatus": ""}),
    ("RayJob", "runs", {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}),
    (
        "RayJob",
        "succeeded in Ray, its cluster not yet shut down",
        {"jobDeploymentStatus": "Running", "jobStatus": "SUCCEEDED"},
    ),
    ("RayJob", "is suspended", {"jobDeploymentStatus": "Suspended", "jobStatus": ""}),
    ("RayJob", "retries", {"jobDeploymentStatus": "Retrying", "jobStatus": "FAILED", "failed": 1}),
    (
        "RayJob",
        "failed",
        {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "reason": "AppFailed"},
    ),
    (
        "RayJob",
        "was stopped",
        {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED", "endTime": ENDED},
    ),
    ("JobSet", "is suspended", {"conditions": [condition("Suspended")]}),
    ("JobSet", "restarts", {"restarts": 1, "conditions": [condition("StartupPolicyInProgress")]}),
    (
        "JobSet",
        "failed",
        {
            "conditions": [condition("Failed", reason="ReachedMaxRestarts")],
            "terminalState": "Failed",
            "restarts": 3,
        },
    ),
]

# kind, history, status
HARD_WON: list[tuple[str, str, Object]] = [
    (
        "PyTorchJob",
        "restarted",
        {
            "conditions": [
                condition("Created"),
                condition("Restarting", "False"),
                condition("Running", "False"),
                condition("Succeeded"),
            ],
            "completionTime": ENDED,
        },
    ),
    ("Job", "had failed pods", {**SUCCEEDED["Job"], "failed": 2}),
    ("JobSet", "restarted", {**SUCCEEDED["JobSet"], "restarts": 2}),
    ("RayJob", "retried", {**SUCCEEDED["RayJob"], "failed": 1}),
    (
        "TrainJob",
        "was suspended",
        {"conditions": [condition("Suspended", "False", "Resumed"), condition("Complete")]},
    ),
]


def trigger(**spec: Any) -> ModelExportTrigger:  # noqa: ANN401 - any part of a manifest
    """Return a trigger as the API server stores it, with parts of its spec replaced."""
    manifest = copy.deepcopy(TRIGGER)
    meta = {"namespace": "team", "uid": "uid-of-trigger", "generation": 1}
    manifest["metadata"] = {
        "name": "digits",
        **meta,
        "creationTimestamp": "2026-05-01T11:30:00Z",
    }
    manifest["spec"].update(spec)
    return parse_trigger(manifest)


def dated_job(completed: str) -> Object:
    """Return a Job that completed at that time."""
    status = {"conditions": [condition("Complete", when=completed)], "completionTime": completed}
    return training("Job", status)
