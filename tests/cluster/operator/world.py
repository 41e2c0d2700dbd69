"""A control plane with the CRDs; tests act in place of user and kubelet.

There is no kubelet on this level: a test runs a pod by writing the status that a kubelet would.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import kubernetes.client
import kubernetes.config
from urllib3 import HTTPResponse

from bed.control_plane import ControlPlane
from modelexport_api import GROUP, PLURAL, VERSION
from modelexport_api.pod import CONTAINER, PodResult, encode_termination
from modelexport_api.reasons import Reason
from modelexport_api.status import Artifact, Failure, Stage, Verdict, VerificationResult
from modelexport_operator import names
from modelexport_operator.job import job_name

Object = dict[str, Any]
T = TypeVar("T")
NODE: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "nowhere"}}
"""The node of all pods; pods on a missing node would be deleted within a minute."""
CRDS = Path(__file__).resolve().parents[3] / "crds"

SPEC: Object = {
    "source": {"uri": "s3://models/digits/model.pt", "format": "StateDict"},
    "storage": {"secretName": "s3"},
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
        size_bytes=48_000,
        opset=20,
        ir_version=10,
        exporter="Dynamo (torch 2.15.0)",
        inputs=[],
        outputs=[],
    ),
    verification=VerificationResult(
        verdict=Verdict.VERIFIED,
        provider="CPUExecutionProvider",
        samples=12,
        max_abs_error=1e-6,
        max_rel_error=1e-6,
        tolerance_source="Default",
    ),
    completed=list(Stage),
    report_uri="s3://models/digits/onnx/report.json",
)


def failure(reason: Reason, stage: Stage, completed: list[Stage]) -> PodResult:
    why = Failure(reason=reason, message="found this, expected that", hint="do so", stage=stage)
    return PodResult(outcome="Failed", failure=why, completed=completed)


PATIENCE = 4
"""A busy machine takes so many times as long; what is reached is not waited for."""


def eventually(probe: Callable[[], T | None], what: str, seconds: float = 30.0) -> T:
    """Return the first truthy answer. `seconds`: of a quiet machine."""
    seconds *= PATIENCE
    deadline = time.monotonic() + seconds
    while True:
        found = probe()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not in {seconds:.0f} s: {what}")
        time.sleep(0.1)


@dataclass
class World:
    """One namespace of the control plane."""

    plane: ControlPlane
    namespace: str

    def __post_init__(self) -> None:
        kubeconfig = str(self.plane.kubeconfig)
        client = kubernetes.config.new_client_from_config(kubeconfig)  # type: ignore[no-untyped-call]
        self.core: Any = kubernetes.client.CoreV1Api(client)
        self.batch: Any = kubernetes.client.BatchV1Api(client)
        self.custom: Any = kubernetes.client.CustomObjectsApi(client)

    # Actions of a user.

    def create(self, name: str, labels: dict[str, str] | None = None, **spec: object) -> Object:
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "ModelExport",
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {**SPEC, **spec},
        }
        made: Object = self.custom.create_namespaced_custom_object(
            GROUP, VERSION, self.namespace, PLURAL, body
        )
        return made

    def export(self, name: str) -> Object:
        found: Object = self.custom.get_namespaced_custom_object(
            GROUP, VERSION, self.namespace, PLURAL, name
        )
        return found

    def patch(self, name: str, body: Object) -> None:
        self.custom.patch_namespaced_custom_object(
            GROUP, VERSION, self.namespace, PLURAL, name, body
        )

    def delete(self, name: str) -> None:
        self.custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, PLURAL, name)

    def exists(self, name: str) -> bool:
        found = self.custom.list_namespaced_custom_object(GROUP, VERSION, self.namespace, PLURAL)
        return name in {item["metadata"]["name"] for item in found["items"]}

    def wait_for_phase(self, name: str, phase: str, seconds: float = 30.0) -> Object:
        """Wait until the export is in the phase; return its whole status."""

        def reached() -> Object | None:
            status: Object = self.export(name).get("status", {})
            return status if status.get("phase") == phase else None

        return eventually(reached, f"{name} is {phase}", seconds)

    def phases(self) -> Counter[str]:
        found = self.custom.list_namespaced_custom_object(GROUP, VERSION, self.namespace, PLURAL)
        return Counter(item.get("status", {}).get("phase", "") for item in found["items"])

    def foreign_job(self, name: str, uid: str) -> None:
        """Occupy the name of an export's Job."""
        container = {"name": "main", "image": "none"}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        body = {
            "metadata": {"name": job_name(name, uid)},
            "spec": {"suspend": True, "template": template},
        }
        self.batch.create_namespaced_job(self.namespace, body)

    def condition(self, name: str, kind: str) -> Object | None:
        conditions = self.export(name).get("status", {}).get("conditions", [])
        return next((entry for entry in conditions if entry["type"] == kind), None)

    def wait_for(self, name: str, kind: str, status: str = "True", seconds: float = 30.0) -> Object:
        """Wait until the condition has the status; return the export's whole status."""

        def reached() -> Object | None:
            found = self.condition(name, kind)
            return found if found is not None and found["status"] == status else None

        eventually(reached, f"{name} is {kind}={status}", seconds)
        whole: Object = self.export(name)["status"]
        return whole

    # The state in Kubernetes.

    def jobs(self, name: str) -> list[Object]:
        uid = self.export(name)["metadata"]["uid"]
        found = self._raw(self.batch.list_namespaced_job, f"{names.UID_LABEL}={uid}")
        return sorted(found, key=lambda job: str(job["metadata"]["creationTimestamp"]))

    def job(self, name: str) -> Object:
        return eventually(lambda: next(iter(self.jobs(name)), None), f"a Job of {name}")

    def job_exists(self, job: str) -> bool:
        return job in {entry["metadata"]["name"] for entry in self.all_jobs()}

    def all_jobs(self) -> list[Object]:
        return self._raw(self.batch.list_namespaced_job, names.UID_LABEL)

    def all_pods(self) -> list[Object]:
        return self._raw(self.core.list_namespaced_pod, names.UID_LABEL)

    def pods(self, name: str) -> list[Object]:
        uid = self.export(name)["metadata"]["uid"]
        found = self._raw(self.core.list_namespaced_pod, f"{names.UID_LABEL}={uid}")
        return sorted(found, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))

    def live_pod(self, name: str, seconds: float = 40.0) -> str:
        """Wait for a pod that has not ended and whose Job exists; return its name."""

        def alive() -> str | None:
            jobs = {job["metadata"]["uid"] for job in self.jobs(name)}
            for pod in self.pods(name):
                phase, meta = pod.get("status", {}).get("phase"), pod["metadata"]
                owned = any(owner["uid"] in jobs for owner in meta.get("ownerReferences", []))
                if owned and phase in {"Pending", "Running"} and "deletionTimestamp" not in meta:
                    found: str = meta["name"]
                    return found
            return None

        return eventually(alive, f"a pod of {name} that has not ended", seconds)

    def events(self, name: str) -> list[Object]:
        uid = self.export(name)["metadata"]["uid"]
        listed = self.core.list_namespaced_event(
            self.namespace, field_selector=f"involvedObject.uid={uid}", _preload_content=False
        )
        items: list[Object] = self._json(listed)
        return items

    # Actions of a person, or of a cluster's autoscaler.

    def add_node(self, name: str) -> None:
        self.core.create_node({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})

    def remove_node(self, name: str) -> None:
        self.core.delete_node(name)

    # Actions of the kubelet.

    def bind(self, pod: str, node: str = "nowhere") -> None:
        target = {"target": {"apiVersion": "v1", "kind": "Node", "name": node}}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, **target}
        self.core.create_namespaced_pod_binding(pod, self.namespace, body, _preload_content=False)

    def run_pod(self, pod: str, *, bound: bool = False, node: str = "nowhere") -> None:
        """The container runs."""
        if not bound:
            self.bind(pod, node)
        self._write(pod, "Running", {"running": {"startedAt": _now()}})

    def cannot_start(self, pod: str, reason: str, message: str) -> None:
        self.bind(pod)
        self._write(pod, "Pending", {"waiting": {"reason": reason, "message": message}})

    def unschedulable(self, pod: str, message: str) -> None:
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        self.core.patch_namespaced_pod_status(
            pod, self.namespace, {"status": {"conditions": [condition]}}
        )

    def end_pod(
        self, pod: str, exit_code: int, result: PodResult | str | None = None, reason: str = ""
    ) -> None:
        """The container ends, with the result, or its text, in its termination message."""
        text = encode_termination(result) if isinstance(result, PodResult) else result
        ended = {
            "exitCode": exit_code,
            "reason": reason or ("Completed" if exit_code == 0 else "Error"),
            "startedAt": _now(),
            "finishedAt": _now(),
            "message": text or "",
        }
        self._write(pod, "Succeeded" if exit_code == 0 else "Failed", {"terminated": ended})

    def is_being_deleted(self, pod: str) -> bool:
        found = {entry["metadata"]["name"]: entry["metadata"] for entry in self.all_pods()}
        return "deletionTimestamp" in found.get(pod, {})

    def delete_pod(self, pod: str) -> None:
        """Delete the pod with its container."""
        self.core.delete_namespaced_pod(pod, self.namespace, grace_period_seconds=0)

    def delete_job(self, job: str) -> None:
        self.batch.delete_namespaced_job(job, self.namespace, propagation_policy="Background")

    def _write(self, pod: str, phase: str, state: Object) -> None:
        container = {
            "name": CONTAINER,
            "image": "exporter",
            "imageID": "",
            "ready": phase == "Running",
            "restartCount": 0,
            "state": state,
        }
        status: Object = {"phase": phase, "containerStatuses": [container]}
        if phase == "Running":
            status["conditions"] = [{"type": "Ready", "status": "True"}]
        self.core.patch_namespaced_pod_status(pod, self.namespace, {"status": status})

    def _raw(self, list_them: Callable[..., Any], selector: str) -> list[Object]:
        return self._json(
            list_them(self.namespace, label_selector=selector, _preload_content=False)
        )

    def _json(self, answer: HTTPResponse) -> list[Object]:
        items: list[Object] = json.loads(answer.data)["items"]
        return items


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
