"""A simulation of Kueue: what its controller writes to Jobs, and when.

Kueue itself cannot be built here. This does to the Jobs of one namespace what Kueue does to them
(as observed on its main branch, August 2026, Kubernetes 1.36.3, `batch/job` integration, defaults):

- submission: a Job with a queue name is suspended when it is created, by an admission policy where
  one is installed (`install_webhook`), else by the controller about a second later. A Workload of
  a stable name stands for it; the Job is not changed;
- admission: one merge patch with the Job's resourceVersion lifts `suspend`, gives the pod template
  the annotation with the Workload's name and three labels, and adds the flavor's nodeSelector and
  tolerations;
- eviction: (1) `suspend` and the annotation `stopping`, (2) status.startTime is removed,
  (3) the annotation is removed and the template restored; the API server answers 422 until the Job
  controller has written that the Job is suspended and has no active pods;
- interference: a Job that a user suspends is resumed, one that a user resumes is stopped;
- the end: no write; the quota is free again, as it is a moment after a Job was deleted.
"""

from __future__ import annotations

import contextlib
import copy
import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from kubernetes.client.exceptions import ApiException

from bed.control_plane import ControlPlane
from cluster.operator.world import Object, World, eventually

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
STOPPING = "kueue.x-k8s.io/stopping"
POLICY = "kueue-suspends-jobs"
UNNOTICED_SECONDS = 1.0
"""How long a Job runs that was created before the webhook was installed."""
_PAUSE = 0.05
_MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Flavor:
    """The properties of the nodes of a quota."""

    node_selector: dict[str, str] = field(default_factory=lambda: {"gpu": "a100"})
    toleration: Object = field(
        default_factory=lambda: {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
    )


@dataclass
class Workload:
    """A Job in the queue."""

    name: str
    job: str
    uid: str
    template: Object
    """As it was submitted."""
    since: float
    admitted: bool = False
    finished: bool = False
    evictions: int = 0


class Kueue:
    """The controller: `with Kueue(world) as kueue`. It admits as many Jobs as `quota` says."""

    def __init__(self, world: World, quota: int = 0) -> None:
        self.quota = quota
        self.flavor = Flavor()
        self.workloads: dict[str, Workload] = {}
        self._world = world
        self._to_evict: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.broken: Exception | None = None

    def __enter__(self) -> Kueue:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(20)
        if self.broken is not None:
            raise self.broken

    def evict(self, job: str) -> None:
        """Preempt the Job; it is back in the queue when this returns."""
        before = self._of(job).evictions
        self._to_evict.add(job)
        eventually(lambda: self._of(job).evictions > before, f"{job} is evicted")

    def admitted(self) -> list[str]:
        """The Jobs that hold quota."""
        return [w.job for w in self.workloads.values() if w.admitted and not w.finished]

    def _of(self, job: str) -> Workload:
        return next(found for found in self.workloads.values() if found.job == job)

    def _run(self) -> None:
        while not self._over.wait(_PAUSE):
            try:
                self._look()
            except ApiException as error:
                if error.status not in {404, 409}:  # deleted or changed: read again
                    self.broken = error
                    return

    def _look(self) -> None:
        jobs = self._jobs()
        present = {job["metadata"]["uid"] for job in jobs}
        self.workloads = {uid: w for uid, w in self.workloads.items() if uid in present}
        for job in jobs:
            self._reconcile(job)

    def _reconcile(self, job: Object) -> None:
        meta, suspended = job["metadata"], bool(job["spec"].get("suspend"))
        workload = self.workloads.get(meta["uid"])
        if workload is None:
            name = f"job-{meta['name']}-{meta['uid'][:5]}"
            template = copy.deepcopy(job["spec"]["template"])
            workload = Workload(name, meta["name"], meta["uid"], template, time.monotonic())
            self.workloads[meta["uid"]] = workload
        ended = job.get("status", {}).get("conditions", [])
        workload.finished = any(c["type"] in {"Complete", "Failed"} for c in ended)
        if workload.finished or "deletionTimestamp" in meta:
            return
        if workload.admitted and meta["name"] in self._to_evict:
            self._to_evict.discard(meta["name"])
            self._stop(workload)
            workload.evictions += 1
        elif workload.admitted and suspended:
            self._patch(workload.job, {"spec": {"suspend": False}})
        elif not workload.admitted and not suspended:
            if time.monotonic() - workload.since > UNNOTICED_SECONDS:
                self._stop(workload)
        elif not workload.admitted and len(self.admitted()) < self.quota:
            self._admit(job, workload)

    def _admit(self, job: Object, workload: Workload) -> None:
        tolerations = workload.template["spec"].get("tolerations", [])
        template = {
            "metadata": {
                "annotations": {"kueue.x-k8s.io/workload": workload.name},
                "labels": {
                    "kueue.x-k8s.io/cluster-queue-name": "cluster",
                    "kueue.x-k8s.io/local-queue-name": job["metadata"]["labels"][QUEUE_LABEL],
                    "kueue.x-k8s.io/podset": "main",
                },
            },
            "spec": {
                "nodeSelector": self.flavor.node_selector,
                "tolerations": [*tolerations, self.flavor.toleration],
            },
        }
        version = job["metadata"]["resourceVersion"]
        patch = {
            "metadata": {"resourceVersion": version},
            "spec": {"suspend": False, "template": template},
        }
        workload.admitted = self._is_taken(workload, patch)

    def _stop(self, workload: Workload) -> None:
        suspend = {"spec": {"suspend": True}, "metadata": {"annotations": {STOPPING: "true"}}}
        self._patch(workload.job, suspend)
        self._world.batch.patch_namespaced_job_status(
            workload.job,
            self._world.namespace,
            {"status": {"startTime": None}},
            _content_type=_MERGE,
        )
        restored = {
            "metadata": {"annotations": {STOPPING: None}},
            "spec": {"template": self._restoration(workload)},
        }
        while not self._is_taken(workload, restored):
            if self._over.wait(_PAUSE):
                return
        workload.admitted = False

    def _restoration(self, workload: Workload) -> Object:
        """The merge patch that removes what the admission added."""
        meta, spec = workload.template.get("metadata", {}), workload.template["spec"]
        injected = ["cluster-queue-name", "local-queue-name", "podset"]
        labels = {f"kueue.x-k8s.io/{name}": None for name in injected}
        selector: Object = dict.fromkeys(self.flavor.node_selector)
        return {
            "metadata": {
                "annotations": {"kueue.x-k8s.io/workload": None, **meta.get("annotations", {})},
                "labels": {**labels, **meta.get("labels", {})},
            },
            "spec": {
                "nodeSelector": {**selector, **spec.get("nodeSelector", {})} or None,
                "tolerations": spec.get("tolerations"),
            },
        }

    def _is_taken(self, workload: Workload, patch: Object) -> bool:
        """Write a pod template, unless the Job controller still has to see that it may change."""
        try:
            self._patch(workload.job, patch)
        except ApiException as error:
            if error.status != 422:
                raise
            return False
        return True

    def _patch(self, job: str, patch: Object) -> None:
        self._world.batch.patch_namespaced_job(
            job, self._world.namespace, patch, _content_type=_MERGE
        )

    def _jobs(self) -> list[Object]:
        answer = self._world.batch.list_namespaced_job(
            self._world.namespace, label_selector=QUEUE_LABEL, _preload_content=False
        )
        items: list[Object] = json.loads(answer.data)["items"]
        return items


@contextlib.contextmanager
def install_webhook(plane: ControlPlane, namespace: str) -> Any:  # noqa: ANN401 - a generator
    """Suspend Jobs with a queue name as they are created, in one namespace, as the webhook does."""
    name = f"{POLICY}-{namespace}"
    queued = f"has(object.metadata.labels) && '{QUEUE_LABEL}' in object.metadata.labels"
    group = "admissionregistration.k8s.io/v1"
    policy = {
        "apiVersion": group,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["batch"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["jobs"],
                    }
                ]
            },
            "matchConditions": [{"name": "queued", "expression": queued}],
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {
                        "expression": "Object{spec: Object.spec{suspend: true}}"
                    },
                }
            ],
        },
    }
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    binding = {
        "apiVersion": group,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "matchResources": {"namespaceSelector": selector}},
    }
    plane.apply(policy, binding)
    try:
        eventually(lambda: _suspends(plane, namespace), "the policy suspends a Job")
        yield
    finally:
        plane.kubectl("delete", "mutatingadmissionpolicybinding,mutatingadmissionpolicy", name)


def _suspends(plane: ControlPlane, namespace: str) -> bool:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}]}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "probe", "namespace": namespace, "labels": {QUEUE_LABEL: "probe"}},
        "spec": {"template": template},
    }
    made = plane.kubectl(
        *("create", "--dry-run=server", "--output=json", "--filename=-"), stdin=json.dumps(job)
    )
    return bool(json.loads(made)["spec"].get("suspend"))
