"""One ModelExport from its creation to its end, depending on its pod."""

from __future__ import annotations

import json

import pytest
from kubernetes.client.exceptions import ApiException

from cluster.operator.replica import Operators, Replica
from cluster.operator.world import SUCCESS, World, eventually, failure
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage

pytestmark = pytest.mark.control_plane


def test_success_is_read_from_the_termination_message(world: World, operator: Replica) -> None:
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    running = world.wait_for("digits", "Scheduled")
    assert running["jobName"] == world.job("digits")["metadata"]["name"]
    eventually(lambda: world.export("digits")["status"]["phase"] == "Running", "phase Running")
    world.end_pod(pod, 0, SUCCESS)
    status = world.wait_for("digits", "Complete")
    assert status["phase"] == "Succeeded"
    assert status["artifact"]["uri"] == "s3://models/digits/onnx/model.onnx"
    assert status["verification"]["verdict"] == "Verified"
    assert status["progress"]["percent"] == 100
    assert status["attempts"] == 1
    assert status["observedGeneration"] == 1
    assert {c["type"]: c["status"] for c in status["conditions"]} == dict.fromkeys(
        ["Scheduled", "Exported", "Verified", "Published", "Complete", "Ready", "Finished"], "True"
    )
    assert {e["reason"] for e in world.events("digits")} == {"Complete"}
    assert operator.read("/healthz") == "ok"
    assert 'modelexport_finished_total{phase="Succeeded",reason="Published"} 1.0' in operator.read(
        "/metrics"
    )


def test_restored_from_a_backup_it_runs_again_once(world: World, operator: Replica) -> None:
    """A backup has the status; the API server drops it, as for each object that is created."""
    world.create("digits", labels={"team": "vision"})
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for("digits", "Complete")
    saved = world.export("digits")
    world.delete("digits")
    metadata = {key: saved["metadata"][key] for key in ("name", "namespace", "labels", "uid")}
    world.plane.kubectl("create", "-f", "-", stdin=json.dumps({**saved, "metadata": metadata}))
    eventually(lambda: world.live_pod("digits") != pod, "a pod of the restored export")
    again = world.live_pod("digits")
    assert world.export("digits")["status"]["phase"] == "Pending"
    world.run_pod(again)
    world.end_pod(again, 0, SUCCESS)
    status = world.wait_for("digits", "Complete")
    assert status["attempts"] == 1
    assert world.export("digits")["metadata"]["uid"] != saved["metadata"]["uid"]
    eventually(lambda: len(world.jobs("digits")) == 1, "the Job of the old export is gone")
    assert world.job("digits")["metadata"]["name"] == status["jobName"]


def test_all_namespaces_are_watched_by_default(world: World, operators: Operators) -> None:
    operators.start(watchNamespaces=[])
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for("digits", "Complete")


def test_a_user_error_fails_at_once(world: World, operator: Replica) -> None:
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    completed = [Stage.FETCH, Stage.LOAD, Stage.CAPTURE, Stage.CONVERT, Stage.CONTRACT]
    result = failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, completed)
    world.end_pod(pod, ExitCode.VERIFICATION, result)
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "VerificationFailed"
    assert status["failure"]["hint"] == "do so"
    conditions = {c["type"]: (c["status"], c["reason"]) for c in status["conditions"]}
    assert conditions == {
        "Scheduled": ("True", "Scheduled"),
        "Exported": ("True", "Exported"),
        "Verified": ("False", "VerificationFailed"),
        "Published": ("False", "NotReached"),
        "Failed": ("True", "VerificationFailed"),
        "Ready": ("False", "VerificationFailed"),
        "Stalled": ("True", "VerificationFailed"),
        "Finished": ("True", "Failed"),
    }
    assert len(world.pods("digits")) == 1


def test_a_killed_pod_is_retried(world: World, operator: Replica) -> None:
    world.create("digits")
    first = world.live_pod("digits")
    world.run_pod(first)
    world.end_pod(first, 137, reason="Error")
    second = world.live_pod("digits")
    assert second != first
    world.run_pod(second)
    world.end_pod(second, 0, SUCCESS)
    status = world.wait_for("digits", "Complete")
    assert status["attempts"] == 2
    assert len(world.jobs("digits")) == 1


def test_exhausted_retries_contain_the_failure_of_the_last_pod(
    world: World, operator: Replica
) -> None:
    world.create("digits", backoffLimit=0)
    pod = world.live_pod("digits")
    world.run_pod(pod)
    result = failure(Reason.STORE_UNAVAILABLE, Stage.FETCH, [])
    world.end_pod(pod, ExitCode.RETRYABLE, result)
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "RetriesExhausted"
    assert "StoreUnavailable: found this" in status["failure"]["message"]
    assert status["failure"]["stage"] == "Fetch"


def test_a_pod_killed_for_its_memory_is_not_retried(world: World, operator: Replica) -> None:
    resources = {"limits": {"memory": "2Gi"}}
    template = {"spec": {"containers": [{"name": "exporter", "resources": resources}]}}
    world.create("digits", podTemplate=template)
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.end_pod(pod, 137, reason="OOMKilled")
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "OutOfMemory"
    assert "2Gi" in status["failure"]["message"]
    assert len(world.pods("digits")) == 1
    job = world.job("digits")
    assert job["spec"]["backoffLimit"] == 0
    assert any(c["type"] == "Failed" for c in job["status"]["conditions"])


def test_a_pod_that_cannot_start_fails_after_the_grace_period(
    world: World, operator: Replica
) -> None:
    world.create("digits")
    pod = world.live_pod("digits")
    world.cannot_start(pod, "ImagePullBackOff", 'Back-off pulling image "nope"')
    waiting = world.wait_for("digits", "Exported", "False")
    assert waiting["phase"] == "Pending"
    eventually(lambda: world.is_being_deleted(pod), "the Job controller deletes the pod")
    world.delete_pod(pod)
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "PodCannotStart"
    assert 'Back-off pulling image "nope"' in status["failure"]["message"]
    assert "Failed" in {c["type"] for c in world.job("digits")["status"]["conditions"]}


def test_a_pod_that_waits_for_a_gpu_is_pending(world: World, operator: Replica) -> None:
    world.create("digits")
    pod = world.live_pod("digits")
    world.unschedulable(pod, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
    waiting = world.wait_for("digits", "Scheduled", "False")
    assert waiting["phase"] == "Pending"
    condition = world.condition("digits", "Scheduled")
    assert condition is not None
    assert condition["reason"] == "Unschedulable"
    assert "Insufficient nvidia.com/gpu" in condition["message"]
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for("digits", "Complete")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ({"spec": {"nodeSelectr": {"gpu": "a100"}}}, "nodeSelectr"),
        ({"spec": {"tolerations": [{"operator": "Sometimes"}]}}, "Sometimes"),
        ({"spec": {"nodeSelector": {"gpu": 1}}}, "nodeSelector"),
    ],
    ids=["unknown field", "unknown value", "wrong type"],
)
def test_the_api_server_s_rejection_of_a_template_is_the_reason(
    world: World, operator: Replica, template: dict[str, object], words: str
) -> None:
    world.create("digits", podTemplate=template)
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "PodRejected"
    assert words in status["failure"]["message"]
    assert not world.jobs("digits")


def test_a_protected_field_of_the_template_is_named(world: World, operator: Replica) -> None:
    world.create("digits", podTemplate={"spec": {"hostNetwork": True}})
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "InvalidManifest"
    assert "spec.podTemplate.spec.hostNetwork cannot be changed" in status["failure"]["message"]


def test_a_pod_that_the_namespace_rejects_is_the_reason(world: World, operator: Replica) -> None:
    world.create("digits", serviceAccountName="nobody")
    status = world.wait_for("digits", "Failed", seconds=60)
    assert status["failure"]["reason"] == "PodRejected"
    assert 'serviceaccount "nobody" not found' in status["failure"]["message"]


def test_a_changed_spec_is_rejected_and_the_export_continues(
    world: World, operator: Replica
) -> None:
    template: dict[str, object] = {"spec": {"nodeSelector": {"gpu": "a100"}}}
    world.create("digits", podTemplate=template)
    pod = world.live_pod("digits")
    world.run_pod(pod)
    for change in (
        {"podTemplate": {"spec": {"nodeSelector": {"gpu": "h100"}}}},
        {"model": {"kwargs": {"hidden": 2}}},
    ):
        with pytest.raises(ApiException, match="immutable"):
            world.patch("digits", {"spec": change})
    world.end_pod(pod, 0, SUCCESS)
    status = world.wait_for("digits", "Complete")
    assert status["observedGeneration"] == 1
