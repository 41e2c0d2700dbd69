"""The operator as a real process, with exactly the permissions that its chart grants."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bed.control_plane import ControlPlane
from bed.processes import Child, free_port
from cluster.operator.forked import Forker
from cluster.operator.world import CRDS, NODE
from modelexport_operator import rbac
from modelexport_operator.triggers.kinds import TriggerSettings

USER = "operator"
LEASE = "modelexport-operator"


def lease(seconds: int) -> dict[str, object]:
    """Return the settings of a Lease that lasts so long: a busy machine stops a leader for 3 s."""
    timing = {"durationSeconds": seconds, "renewSeconds": 0.75 * seconds, "retrySeconds": 0.5}
    return {"name": LEASE, **timing}


def grant(plane: ControlPlane) -> None:
    """Bind the operator's permissions to USER."""
    group = "rbac.authorization.k8s.io"
    role: dict[str, Any] = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": USER},
        "rules": [
            *rbac.CLUSTER_RULES,
            *rbac.trigger_rules(TriggerSettings()),
            *rbac.lease_rules(LEASE),
        ],
    }
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": USER},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": USER},
        "subjects": [{"apiGroup": group, "kind": "User", "name": USER}],
    }
    plane.apply(role, binding)


def prepare(plane: ControlPlane) -> Path:
    """Give a control plane what an operator needs; return the kubeconfig of USER."""
    plane.kubectl("apply", "--filename", CRDS)
    plane.wait_for_crds()
    plane.apply(NODE)
    grant(plane)
    return plane.kubeconfig_for(USER, plane.authority.issue("operator", user=USER))


@dataclass
class Replica:
    """A process of the operator."""

    child: Child
    port: int

    def kill(self) -> None:
        """Kill the process, as on a lost node."""
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.process.wait()

    def terminate(self) -> int:
        """Stop the process, as in a rollout; return the exit code."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            self.child.process.terminate()  # again where it came while the replica started again
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.child.process.wait(5)
        raise AssertionError(f"{self.child.name} runs 20 s after SIGTERM")

    def read(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            text: str = answer.read().decode()
            return text

    def requests(self, verb: str, resource: str) -> int:
        """Return the number of successful requests of a kind."""
        metric = (
            f'modelexport_api_requests_total{{code="20.",resource="{resource}",verb="{verb}"}} '
        )
        found = re.findall(metric + r"([0-9.]+)", self.read("/metrics"))
        return sum(int(float(count)) for count in found)

    def leads(self) -> bool:
        try:
            return "modelexport_leader 1.0" in self.read("/metrics")
        except OSError:
            return False

    def healthy(self) -> bool:
        try:
            return self.read("/healthz") == "ok"
        except OSError:
            return False

    def memory(self) -> int:
        """Peak resident memory in bytes."""
        return peak_memory(self.child)


def peak_memory(process: Child) -> int:
    """Return the peak of the resident memory of a process in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


@dataclass
class Operators:
    """Starts replicas on one control plane, watching one namespace."""

    plane: ControlPlane
    namespace: str
    kubeconfig: Path
    forker: Forker
    count: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    """More variables of the replicas."""

    def start(self, name: str = "operator-0", **settings: object) -> Replica:
        self.count += 1
        port = free_port()
        config = {
            "exporterImage": "modelexport-exporter:test",
            "watchNamespaces": [self.namespace],
            "port": port,
            "podStartGraceSeconds": 2,
            "lease": lease(10),
            **settings,
        }
        title = f"{self.namespace}-{name}-{self.count}"
        path = self.plane.run.directory / f"{title}.yaml"
        path.write_text(yaml.safe_dump(config))
        log = self.plane.run.log_of(title)
        environment = {
            "KUBECONFIG": str(self.kubeconfig),
            "POD_NAME": name,
            "POD_NAMESPACE": self.namespace,
            **self.environment,
        }
        process = self.forker.fork(log, ["--config", path], environment)
        return Replica(self.plane.run.adopt(Child(title, process, log)), port)
