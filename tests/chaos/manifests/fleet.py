"""The real operator on a control plane, given objects of mutants: what became of each."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from bed.control_plane import ControlPlane
from chaos.manifests.messages import problems_of_condition
from chaos.manifests.server import Server
from cluster.operator.forked import Forker
from cluster.operator.replica import LEASE, USER, Operators, Replica, grant
from cluster.operator.world import CRDS, NODE

_PATIENCE = 180.0
_PATIENT_LEASE = {"name": LEASE, "durationSeconds": 60, "renewSeconds": 40, "retrySeconds": 0.5}
"""A replica that cannot renew its Lease ends, which a busy machine must not cause here."""
_UNEXPECTED = re.compile(r"Traceback|unexpected error|failed to handle|failed to read")
Object = Mapping[str, Any]


def install(plane: ControlPlane) -> None:
    """Create the kinds and the operator's permissions."""
    plane.kubectl("apply", "--filename", CRDS)
    plane.wait_for_crds()
    plane.apply(NODE)
    grant(plane)


@contextlib.contextmanager
def operator(plane: ControlPlane, namespace: str) -> Iterator[Replica]:
    """Run the operator for one namespace."""
    label = "pod-security.kubernetes.io/enforce=restricted"
    plane.kubectl("label", "namespace", namespace, label)
    kubeconfig = plane.kubeconfig_for(USER, plane.authority.issue("operator", user=USER))
    forker = Forker.start(plane.run.log_of("forker"))
    try:
        replica = Operators(plane, namespace, kubeconfig, forker).start(lease=_PATIENT_LEASE)
        try:
            yield replica
        finally:
            with contextlib.suppress(ProcessLookupError):
                replica.child.stop()
            plane.run.children.remove(replica.child)
    finally:
        forker.close()


def await_conditions(server: Server, names: Mapping[str, bool]) -> dict[str, Object]:
    """Wait until each object has a condition or is gone; `names`: whether it is a trigger."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        found = {
            (name, trigger): body
            for trigger in (False, True)
            for name, body in server.all(trigger=trigger).items()
        }
        mine: dict[str, Object] = {
            name: found[name, kind] for name, kind in names.items() if (name, kind) in found
        }
        if time.monotonic() > deadline or all(conditions(body) for body in mine.values()):
            return mine
        time.sleep(0.5)


def conditions(body: Object) -> list[Object]:
    """Return the conditions of an object."""
    found: list[Object] = (body.get("status") or {}).get("conditions") or []
    return found


def problems(body: Object, *, refused: bool) -> Iterator[str]:
    """Yield what the operator should have said otherwise; `refused`: by the product's readers."""
    found = conditions(body)
    if not found:
        yield "no condition"
        return
    status = body["status"]
    if body["kind"] == "ModelExport":
        if not status.get("phase"):
            yield "no phase"
        if refused and (status.get("failure") or {}).get("reason") != "InvalidManifest":
            yield f"the operator accepts it: {status.get('phase')}"
    elif refused and found[0]["status"] != "False":
        yield f"the operator accepts it: {found[0]['reason']}"
    for condition in found:
        yield from problems_of_condition(condition["message"])


def trouble(replica: Replica) -> list[str]:
    """Return the lines of the operator's log that no object may cause."""
    text = replica.child.log.read_text(errors="replace")
    found = [line[:500] for line in text.splitlines() if _UNEXPECTED.search(line)]
    if replica.child.process.poll() is not None:
        found.append(f"the operator has ended: {text[-500:]}")
    return found
