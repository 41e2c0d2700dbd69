"""Objects as the API server returns them, and minimal instances of other types."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from modelexport_api.conditions import FOR_TOOLS
from modelexport_api.items import ShareCounts
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport, parse
from modelexport_api.status import Artifact, Condition, Failure, ModelExportStatus, Stage
from modelexport_operator import names, observe, pods
from modelexport_operator.observe import ObservedJob, ObservedResource
from modelexport_operator.pods import LogTail, ObservedPod
from modelexport_operator.settings import Settings

Object = dict[str, Any]

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
UID = "0f1e2d3c-0000-4000-8000-000000000001"
SETTINGS = Settings(exporter_image="exporter:1")

SPEC: Object = {
    "source": {"uri": "s3://models/digits/model.pt", "format": "StateDict"},
    "model": {"factory": "digits:build"},
    "inputs": [{"name": "image", "shape": ["batch", 1, 8, 8]}],
    "dims": {"batch": {"min": 1, "max": 64}},
    "destination": {"uri": "s3://models/digits/onnx/"},
}

SUCCESS = PodResult(
    outcome="Succeeded",
    artifact=Artifact(
        uri="s3://models/digits/onnx/model.onnx",
        sha256="0" * 64,
        size_bytes=1,
        opset=20,
        ir_version=10,
        exporter="Dynamo",
        inputs=[],
        outputs=[],
    ),
    completed=list(Stage),
)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def wire_time(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def export_body(
    spec: Object | None = None, status: Object | None = None, **metadata: object
) -> Object:
    meta = {
        "name": "digits",
        "namespace": "ml",
        "uid": UID,
        "generation": 1,
        "resourceVersion": "10",
        **metadata,
    }
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": meta,
        "spec": {**SPEC, **(spec or {})},
        "status": status or {},
    }


def export(spec: Object | None = None) -> ModelExport:
    return parse(export_body(spec))


def resource(
    spec: Object | None = None, status: Object | None = None, **metadata: object
) -> ObservedResource:
    return observe.resource(export_body(spec, status, **metadata))


def job_body(status: Object | None = None, run: int = 1, **annotations: str) -> Object:
    return {
        "metadata": {
            "name": "digits-1a2b3c4d" if run == 1 else f"digits-1a2b3c4d-{run}",
            "namespace": "ml",
            "uid": f"job-{run}",
            "resourceVersion": "20",
            "creationTimestamp": wire_time(NOW),
            "annotations": {
                names.RUN_ANNOTATION: str(run),
                **{f"modelexport.dev/{key}": value for key, value in annotations.items()},
            },
            "ownerReferences": [{"controller": True, "uid": UID, "kind": "ModelExport"}],
        },
        "spec": {"backoffLimit": 3, "activeDeadlineSeconds": 3600},
        "status": status or {"active": 1},
    }


def job(status: Object | None = None, run: int = 1, **annotations: str) -> ObservedJob:
    return observe.job(job_body(status, run, **annotations))


def ended(kind: str, reason: str = "") -> Object:
    """The status of a finished Job."""
    condition = {
        "type": kind,
        "status": "True",
        "reason": reason,
        "lastTransitionTime": wire_time(at(60)),
    }
    counts = {"succeeded": 1} if kind == "Complete" else {"failed": 1}
    return {**counts, "conditions": [condition]}


def own_conditions(status: ModelExportStatus | None) -> list[Condition]:
    """The conditions that do not follow from the others."""
    assert status is not None
    return [entry for entry in status.conditions if entry.type not in FOR_TOOLS]


def pod_body(state: Object | None = None, phase: str = "Pending", **spec: object) -> Object:
    statuses = [{"name": "exporter", "state": state}] if state else []
    return {
        "metadata": {"name": "digits-1a2b3c4d-x", "creationTimestamp": wire_time(NOW)},
        "spec": {"containers": [{"name": "exporter"}], **spec},
        "status": {"phase": phase, "containerStatuses": statuses, "conditions": []},
    }


def pod(state: Object | None = None, phase: str = "Pending", **spec: object) -> ObservedPod:
    return pods.observe_pod(pod_body(state, phase, **spec))


def running() -> ObservedPod:
    state = {"running": {"startedAt": wire_time(at(5))}}
    return pod(state, "Running", nodeName="node-1")


def waiting(reason: str, message: str = "") -> ObservedPod:
    return pod({"waiting": {"reason": reason, "message": message}}, nodeName="node-1")


def terminated(exit_code: int, result: PodResult | None = None, reason: str = "") -> ObservedPod:
    state = {
        "exitCode": exit_code,
        "reason": reason,
        "startedAt": wire_time(at(5)),
        "finishedAt": wire_time(at(55)),
        "message": result.model_dump_json(by_alias=True) if result else "",
    }
    phase = "Succeeded" if exit_code == 0 else "Failed"
    return pod({"terminated": state}, phase, nodeName="node-1")


def failure(reason: Reason, stage: Stage, *completed: Stage) -> PodResult:
    why = Failure(reason=reason, message="found this, expected that", hint="do so", stage=stage)
    return PodResult(outcome="Failed", failure=why, completed=list(completed))


BATCH: Object = {
    "source": {"uri": "s3://models/folds/*.pt", "format": "StateDict"},
    "destination": {"uri": "s3://models/onnx/{stem}/"},
    "parallelism": 2,
}


def batch_job(status: Object | None = None, run: int = 1, **spec: object) -> ObservedJob:
    """An Indexed Job of two shares."""
    body = job_body(status, run)
    indexed = {"completionMode": "Indexed", "completions": 2, "backoffLimitPerIndex": 3}
    body["spec"] |= {**indexed, **spec}
    return observe.job(body)


RESULTS = "s3://models/onnx/batches/x/results.json"


def share(number: int, succeeded: int, failed: int = 0, running: int = 0) -> ShareCounts:
    """A share of a batch of five checkpoints; three are in the first share."""
    return ShareCounts(
        share=number,
        batch_total=5,
        share_total=3 - number,
        succeeded=succeeded,
        failed=failed,
        running=running,
        reasons={"CheckpointCorrupt": failed} if failed else {},
        example="fold-3.pt: CheckpointCorrupt: no zip file" if failed else "",
        results_uri=RESULTS,
    )


def of_index(
    index: int, pod: ObservedPod, log: ShareCounts | None = None, before: int = 0
) -> ObservedPod:
    """The pod of an index, after `before` failed ones."""
    name = f"digits-1a2b3c4d-{index}-{before}"
    tail = LogTail(share=log)
    return replace(pod, name=name, index=index, index_failures=before, log=tail)


def result_of(counts: ShareCounts) -> PodResult:
    """The result of a pod that processed its share."""
    report = "s3://models/onnx/batches/x/index.html"
    return PodResult(outcome="Succeeded", share=counts, report_uri=report)
