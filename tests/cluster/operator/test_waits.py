"""Whatever keeps an export from running, its status says so, and it runs once that is over."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from bed.control_plane import ControlPlane
from cluster.operator.kueue import QUEUE_LABEL, install_webhook
from cluster.operator.replica import USER, Operators
from cluster.operator.world import Object, World, eventually
from modelexport_operator import rbac
from modelexport_operator.settings import KueueSettings

pytestmark = pytest.mark.control_plane

SHOWN_SECONDS = 5
Obstacle = Callable[[World], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def quota(world: World) -> Iterator[None]:
    """A quota that allows no Job."""
    body = {"metadata": {"name": "jobs"}, "spec": {"hard": {"count/jobs.batch": "0"}}}
    world.core.create_namespaced_resource_quota(world.namespace, body)
    read = world.core.read_namespaced_resource_quota
    eventually(lambda: read("jobs", world.namespace).status.hard, "the quota is in force")
    yield
    world.core.delete_namespaced_resource_quota("jobs", world.namespace)


@contextlib.contextmanager
def webhook(world: World) -> Iterator[None]:
    """A webhook for Jobs whose server is down."""
    name = f"down-{world.namespace}"
    rule = {
        "apiGroups": ["batch"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["jobs"],
    }
    hook = {
        "name": "jobs.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 2,
    }
    group = "admissionregistration.k8s.io/v1"
    kind = "ValidatingWebhookConfiguration"
    body = {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "webhooks": [hook]}
    world.plane.apply(body)
    probe = {"metadata": {"name": "probe"}, "spec": {"template": _template()}}
    eventually(lambda: not _is_created(world, probe), "the webhook is in force")
    try:
        yield
    finally:
        world.plane.kubectl("delete", kind, name)


@pytest.mark.parametrize(
    ("obstacle", "reason", "words"),
    [(quota, "QuotaExceeded", "exceeded quota: jobs"), (webhook, "WebhookFailed", "refused")],
)
def test_a_job_that_cannot_be_created_now_is_a_state(
    world: World, operators: Operators, obstacle: Obstacle, reason: str, words: str
) -> None:
    operators.start()
    with obstacle(world):
        world.create("digits")
        started = time.monotonic()
        status = world.wait_for("digits", "Scheduled", "False")
        assert time.monotonic() - started < SHOWN_SECONDS
        assert (status["phase"], status["reason"]) == ("Pending", reason)
        condition = world.condition("digits", "Scheduled")
        assert condition is not None
        assert condition["reason"] == reason
        assert words in condition["message"]
        reasons = eventually(lambda: [e["reason"] for e in world.events("digits")], "an Event")
        assert reasons == [reason]
        table = world.plane.kubectl("get", "mex", "digits", "-n", world.namespace)
        header, row = table.splitlines()[:2]
        assert {"REASON", "MESSAGE"} <= set(header.split())
        assert reason in row
        assert condition["message"][:100] in row
    world.run_pod(world.live_pod("digits"))
    running = world.wait_for_phase("digits", "Running")
    assert not {"reason", "message"} & set(running)


def report(world: World, pod: str, reason: str, message: str) -> None:
    """Write an Event about a pod, as kubelets do."""
    found = next(entry for entry in world.all_pods() if entry["metadata"]["name"] == pod)
    about = {"kind": "Pod", "name": pod, "namespace": world.namespace}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {
        "metadata": {"name": f"{pod}.{reason.lower()}"},
        "involvedObject": {"apiVersion": "v1", "uid": found["metadata"]["uid"], **about},
        "reason": reason,
        "message": message,
        "type": "Warning",
        "count": 1,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": "kubelet"},
    }
    world.core.create_namespaced_event(world.namespace, body)


def test_a_pod_that_waits_for_a_volume_names_it(world: World, operators: Operators) -> None:
    operators.start(podStartGraceSeconds=2)
    world.create("digits", activeDeadlineSeconds=600)
    pod = world.live_pod("digits")
    world.cannot_start(pod, "ContainerCreating", "")  # as in the first seconds of any pod
    missing = 'MountVolume.SetUp failed for volume "s3" : secret "s3" not found'
    report(world, pod, "FailedMount", missing)
    status = eventually(
        lambda: next(iter([s for s in [world.export("digits")["status"]] if "reason" in s]), None),
        "the export says why it waits",
    )
    assert (status["phase"], status["reason"]) == ("Pending", "PodNotStarted")
    exported = world.condition("digits", "Exported")
    assert exported is not None
    assert missing in exported["message"]
    assert "spec.activeDeadlineSeconds (600 s) counts although no pod has" in exported["message"]
    assert "PodNotStarted" in {event["reason"] for event in world.events("digits")}
    world.run_pod(pod, bound=True)
    assert "reason" not in world.wait_for_phase("digits", "Running")


def test_an_attempt_that_fails_does_not_move_the_phase_back(
    world: World, operators: Operators
) -> None:
    operators.start()
    world.create("digits")
    first = world.live_pod("digits")
    world.run_pod(first)
    began = world.wait_for_phase("digits", "Running")
    since = world.condition("digits", "Scheduled")
    world.end_pod(first, 137)
    eventually(
        lambda: world.export("digits")["status"].get("reason") == "Retrying", "the attempt failed"
    )
    assert world.export("digits")["status"]["phase"] == "Running"
    assert world.condition("digits", "Scheduled") == since
    assert world.export("digits")["status"]["startTime"] == began["startTime"]


KUEUE = "kueue.x-k8s.io"
WAITS = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor x"


@pytest.fixture(scope="module")
def workloads(control_plane: ControlPlane) -> None:
    """The kind Workload, in a version of Kueue before v1beta2, and the permission to read it."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    group = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "kueue"}}
    control_plane.apply(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"workloads.{KUEUE}"},
            "spec": {
                "group": KUEUE,
                "scope": "Namespaced",
                "names": {"kind": "Workload", "plural": "workloads"},
                "versions": [version],
            },
        },
        {**role, "rules": list(rbac.kueue_rules(KueueSettings(enabled=True)))},
        {
            **role,
            "kind": "ClusterRoleBinding",
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "kueue"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": USER}],
        },
    )
    control_plane.wait_for_crds()


def workload(world: World, job: Object, active: bool, *conditions: Object) -> None:
    """Write the Workload of a Job, as Kueue does, and change the Job, as Kueue often does."""
    body: Any = {
        "apiVersion": f"{KUEUE}/v1beta1",
        "kind": "Workload",
        "metadata": {
            "name": "job-digits-1f2e3",
            "namespace": world.namespace,
            "labels": {f"{KUEUE}/job-uid": job["metadata"]["uid"]},
        },
        "spec": {"active": active},
    }
    world.plane.apply(body)
    world.custom.patch_namespaced_custom_object_status(
        KUEUE,
        "v1beta1",
        world.namespace,
        "workloads",
        body["metadata"]["name"],
        {"status": {"conditions": list(conditions)}},
    )
    change = {"metadata": {"annotations": {"changed": str(time.monotonic())}}}
    world.batch.patch_namespaced_job(job["metadata"]["name"], world.namespace, change)


def false(kind: str, reason: str, message: str) -> Object:
    return {"type": kind, "status": "False", "reason": reason, "message": message}


@pytest.mark.usefixtures("workloads")
def test_a_queued_export_quotes_kueue(world: World, operators: Operators) -> None:
    operator = operators.start(kueue={"enabled": True})

    def says(reason: str, words: str) -> Object:
        def found() -> Object | None:
            entry = world.condition("digits", "Scheduled")
            return entry if entry is not None and entry["reason"] == reason else None

        condition = eventually(found, reason)
        assert condition["message"].startswith("Workload job-digits-1f2e3: ")
        assert words in condition["message"]
        return condition

    with install_webhook(world.plane, world.namespace):
        world.create("digits", {QUEUE_LABEL: "gpu"})
        world.wait_for_phase("digits", "Queued")
        job = world.job("digits")
        time.sleep(2)  # in the first moments of a Job there is nothing to read
        missing = false("QuotaReserved", "Inadmissible", "LocalQueue gpu doesn't exist")
        workload(world, job, True, missing)
        first = says("QueueMissing", "LocalQueue gpu doesn't exist")
        workload(world, job, True, false("QuotaReserved", "Pending", WAITS))
        eventually(
            lambda: WAITS in (world.condition("digits", "Scheduled") or {})["message"], "it waits"
        )
        workload(world, job, False, false("QuotaReserved", "Pending", WAITS))
        last = says("Deactivated", "Kueue does not admit it again until you")
    assert first["lastTransitionTime"] == last["lastTransitionTime"]  # it was False all the time
    assert world.export("digits")["status"]["phase"] == "Queued"
    events = {(e["type"], e["reason"]) for e in world.events("digits")}
    assert {("Warning", "QueueMissing"), ("Warning", "Deactivated")} <= events
    assert operator.requests("GET", "workloads") < 15


def _template() -> Object:
    container = {"name": "main", "image": "none"}
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


def _is_created(world: World, job: Object) -> bool:
    try:
        world.batch.create_namespaced_job(world.namespace, job, dry_run="All")
    except Exception:  # noqa: BLE001 - any refusal
        return False
    return True
