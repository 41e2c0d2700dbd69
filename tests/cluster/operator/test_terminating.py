"""An export in a namespace that is being deleted says so, without a flood of messages."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator

import pytest

from bed.control_plane import ControlPlane
from cluster.operator.replica import Operators
from cluster.operator.world import Object, World, eventually

pytestmark = pytest.mark.control_plane

SHOWN_SECONDS = 5
RETRIED_SECONDS = 5
"""Creations of the Job are repeated after 0.5, 1 and 2 s."""


class Leaving(World):
    """A namespace whose deletion waits for a pod: nothing else is deleted before all pods are."""

    def hold(self) -> None:
        container = {
            "name": "main",
            "image": "none",
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            },
        }
        meta = {"name": "kept", "finalizers": ["example.com/kept"]}
        pod = {"metadata": meta, "spec": {"containers": [container]}}
        self.core.create_namespaced_pod(self.namespace, pod)

    def release(self) -> None:
        change = json.dumps({"metadata": {"finalizers": None}})
        patch = ("patch", "pod", "kept", "--type=merge", "--patch", change)
        self.plane.kubectl(*patch, "--namespace", self.namespace)

    def is_terminating(self) -> bool:
        return bool(self.core.read_namespace(self.namespace).status.phase == "Terminating")

    def is_gone(self) -> bool:
        found = self.plane.get("namespaces")["items"]
        return self.namespace not in {entry["metadata"]["name"] for entry in found}


@pytest.fixture
def leaving(control_plane: ControlPlane, operators: Operators) -> Iterator[Leaving]:
    name = f"leaving-{secrets.token_hex(4)}"
    control_plane.create_namespace(name)
    made = Leaving(control_plane, name)
    made.hold()
    yield made
    if not made.is_gone():
        made.release()
        control_plane.delete_namespace(name, wait=False)


def test_a_namespace_that_is_being_deleted_is_a_state(
    leaving: Leaving, operators: Operators, control_plane: ControlPlane
) -> None:
    operator = operators.start(watchNamespaces=[leaving.namespace])  # its Lease is elsewhere
    leaving.create("digits", suspend=True)
    leaving.wait_for_phase("digits", "Suspended")
    control_plane.delete_namespace(leaving.namespace, wait=False)
    eventually(leaving.is_terminating, "the deletion waits for a pod")
    leaving.patch("digits", {"spec": {"suspend": False}})
    started = time.monotonic()

    def reported() -> Object | None:
        found = leaving.condition("digits", "Scheduled")
        return found if found and found["reason"] == "NamespaceTerminating" else None

    condition = eventually(reported, "the condition says why there is no Job")
    assert time.monotonic() - started < SHOWN_SECONDS
    assert condition["status"] == "False"
    assert "because it is being terminated" in condition["message"]
    status = leaving.export("digits")["status"]
    assert (status["phase"], status["reason"]) == ("Pending", "NamespaceTerminating")
    assert condition["message"].startswith(status["message"].rstrip("…"))

    time.sleep(RETRIED_SECONDS)
    log = operator.child.log.read_text()
    assert log.count("the Job cannot be created now") > 1
    assert log.count("no Event can be created") == 1
    assert "failed to create Event" not in log
    leaving.release()
    eventually(leaving.is_gone, "nothing of the export holds the namespace")
    assert operator.healthy()
    assert "unexpected error" not in operator.child.log.read_text()
