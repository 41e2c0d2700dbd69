"""One trace for a ModelExport, from the operator with the real API server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cluster.operator.replica import Operators
from cluster.operator.world import SUCCESS, World, failure
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_api.tracing import TRACEPARENT_ENV, context_of_export, parse_traceparent
from otlp_receiver import receiving

pytestmark = pytest.mark.control_plane


def test_the_operator_and_the_pod_s_variable_are_of_one_trace(
    world: World, operators: Operators
) -> None:
    with receiving() as receiver:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
        traced = replace(operators, environment=variables)
        replica = traced.start(tracing={"enabled": True})
        uid = world.create("good")["metadata"]["uid"]
        pod = world.live_pod("good")
        world.run_pod(pod)
        job = world.job("good")
        (container,) = job["spec"]["template"]["spec"]["containers"]
        env = {entry["name"]: entry.get("value") for entry in container["env"]}
        context = parse_traceparent(env[TRACEPARENT_ENV])
        assert context is not None
        assert context == context_of_export(uid)
        world.end_pod(pod, 0, SUCCESS)
        world.wait_for("good", "Complete")
        root = receiver.wait_for("ModelExport")
        assert (int(root.trace_id, 16), int(root.span_id, 16)) == (
            context.trace_id,
            context.span_id,
        )
        assert root.attributes == {
            "k8s.namespace.name": world.namespace,
            "modelexport.name": "good",
            "modelexport.uid": uid,
            "modelexport.phase": "Succeeded",
            "modelexport.reason": root.attributes["modelexport.reason"],
        }
        assert (root.service, root.error) == ("modelexport-operator", "")
        reconciled = receiver.wait_for("reconcile")
        assert (reconciled.trace_id, reconciled.parent_id) == (root.trace_id, root.span_id)
        assert replica.terminate() == 0
    assert len(receiver.named("ModelExport")) == 1
    assert 2 <= len(receiver.named("reconcile")) <= 10, "only what wrote something"


def test_a_failure_is_an_error_of_the_trace(world: World, operators: Operators) -> None:
    with receiving() as receiver:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
        replace(operators, environment=variables).start(tracing={"enabled": True})
        world.create("bad")
        pod = world.live_pod("bad")
        why = failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, [])
        world.end_pod(pod, ExitCode.VERIFICATION, why)
        world.wait_for("bad", "Failed")
        assert receiver.wait_for("ModelExport").error == "VerificationFailed"


def test_exports_do_not_wait_for_a_collector_that_is_down(
    world: World, operators: Operators
) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    replica = replace(operators, environment=variables).start(tracing={"enabled": True})
    world.create("good")
    world.end_pod(world.live_pod("good"), 0, SUCCESS)
    world.wait_for("good", "Complete")
    assert replica.terminate() == 0
