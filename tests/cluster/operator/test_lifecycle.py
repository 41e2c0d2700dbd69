"""One ModelExport, from its creation to its end, as the pod's fate decides."""

from __future__ import annotations

import pytest

from cluster.operator.replica import Replica
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
        ["Scheduled", "Exported", "Verified", "Published", "Complete"], "True"
    )
    assert {e["reason"] for e in world.events("digits")} == {"JobCreated", "Complete"}
    assert operator.read("/healthz") == "ok"
    assert 'modelexport_finished_total{phase="Succeeded",reason="Published"} 1.0' in operator.read(
        "/metrics"
    )


def test_a_users_mistake_fails_at_once(world: World, operator: Replica) -> None:
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    completed = [Stage.FETCH, Stage.LOAD, Stage.CAPTURE, Stage.CONVERT, Stage.CONTRACT]
    told = failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, completed)
    world.end_pod(pod, ExitCode.VERIFICATION, told)
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
    }
    assert len(world.pods("digits")) == 1
