"""A real single-node cluster: scheduler, containerd, kubelet and kube-proxy on this machine.

Pods run, memory limits are enforced, `kubectl logs` works, and pods reach the API through its
Service and S3 at the node's address. One such node at a time: it owns a bridge, a pod network and
the node's nftables rules.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bed import (
    containerd,
    control_plane,
    golang,
    images,
    node_config,
    node_images,
    pause_image,
    processes,
    registry,
    s3,
)
from bed.containerd import Containerd
from bed.control_plane import ControlPlane
from bed.node_config import BRIDGE, CGROUP, NODE_ADDRESS, NODE_NAME
from bed.processes import Child
from bed.registry import Registry
from bed.runs import Run
from bed.s3 import S3Server

_SYSCTLS = (
    *("net/ipv4/ip_forward", "kernel/panic", "kernel/panic_on_oops"),
    *("vm/overcommit_memory", "vm/panic_on_oom", "kernel/keys/root_maxkeys"),
    "kernel/keys/root_maxbytes",
)
"""What the kubelet and the network plugin change on a machine, put back at the end."""


_DIRECTORIES_MADE = (
    *("/var/lib/kubelet", "/var/log/containers", "/var/lib/cni", "/run/containerd"),
    *("/opt/cni", "/opt/containerd", "/var/log/pods"),
)
"""What the kubelet, containerd and the plugins create whatever their configuration says."""


@dataclass(frozen=True)
class NodeCluster(ControlPlane):
    """A control plane with one node that is Ready, and an S3 server that pods can reach."""

    s3: S3Server
    containerd: Containerd
    registry: Registry

    def load_image(self, image: str) -> str:
        """Make an image of buildah's storage usable with `imagePullPolicy: Never`."""
        images.push(image, self.registry)
        self.containerd.pull(image, self.registry)
        return image

    def advertise(self, resource: str, count: int) -> None:
        """Let the node offer COUNT of an extended resource such as `nvidia.com/gpu`."""
        name = resource.replace("~", "~0").replace("/", "~1")
        value = str(count)
        patch = [
            {"op": "add", "path": f"/status/{field}/{name}", "value": value}
            for field in ("capacity", "allocatable")
        ]
        words = ("patch", "node", NODE_NAME, "--subresource=status", "--type=json")
        self.kubectl(*words, "--patch", json.dumps(patch))


def start(run: Run) -> NodeCluster:
    """Start a cluster with a node, which lives as long as RUN."""
    _prepare_machine(run)
    plane = control_plane.start(run, NODE_ADDRESS)
    server = s3.start(run, NODE_ADDRESS)
    _start_scheduler(plane)
    node_images.copy_to(containerd.root(run))
    daemon = containerd.start(run)
    daemon.ctr("images", "import", pause_image.write(run.directory / "pause.tar"))
    cluster = NodeCluster(
        plane.run,
        plane.url,
        plane.kubeconfig,
        plane.authority,
        plane.children,
        server,
        daemon,
        registry.start(run),
    )
    kubelet = _start_kubelet(plane)
    proxy = _start_kube_proxy(plane)
    processes.wait_until(
        lambda: _node_ready(plane), "the node is Ready", children=[daemon.child, kubelet, proxy]
    )
    return cluster


def _prepare_machine(run: Run) -> None:
    """Create the bridge and the cgroup; note down first what has to go and what to put back."""
    run.record(link=BRIDGE)
    run.record(cgroup=CGROUP)
    for family in ("ip", "ip6"):
        run.record(table=f"{family} kube-proxy")
    for name in _SYSCTLS:
        run.record(sysctl=[name, Path("/proc/sys", name).read_text().strip()])
    for name in _DIRECTORIES_MADE:
        if not Path(name).exists():
            run.record(absent=name)
    processes.call(["ip", "link", "add", BRIDGE, "type", "bridge"])
    processes.call(["ip", "address", "add", f"{NODE_ADDRESS}/24", "dev", BRIDGE])
    processes.call(["ip", "link", "set", BRIDGE, "up"])
    for hierarchy in _cgroup_hierarchies(Path("/sys/fs/cgroup")):
        (hierarchy / CGROUP).mkdir(exist_ok=True)


def _cgroup_hierarchies(root: Path) -> list[Path]:
    """The roots of all cgroup hierarchies: one (v2), or one per controller (v1)."""
    if (root / "cgroup.controllers").exists():
        return [root]
    return [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]


def _start_scheduler(plane: ControlPlane) -> Child:
    user = "system:kube-scheduler"
    kubeconfig = plane.kubeconfig_for(user, plane.authority.issue("scheduler", user=user))
    command: list[str | Path] = [
        golang.KUBERNETES.binary("kube-scheduler"),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
    ]
    return plane.run.spawn("kube-scheduler", command)


def _start_kubelet(plane: ControlPlane) -> Child:
    directory = plane.run.subdirectory("kubelet")
    (directory / "resolv.conf").touch()
    user = f"system:node:{NODE_NAME}"
    pair = plane.authority.issue(
        "kubelet", user=user, group="system:nodes", hosts=[NODE_NAME, NODE_ADDRESS]
    )
    configuration = directory / "config.json"
    configuration.write_text(
        node_config.kubelet(
            directory,
            authority=plane.authority.certificate,
            certificate=pair.certificate,
            key=pair.key,
            port=processes.free_port(),
        )
    )
    command: list[str | Path] = [
        golang.KUBERNETES.binary("kubelet"),
        f"--config={configuration}",
        f"--kubeconfig={plane.kubeconfig_for(user, pair)}",
        f"--root-dir={directory}",
        f"--cert-dir={directory / 'certificates'}",
        f"--hostname-override={NODE_NAME}",
        f"--node-ip={NODE_ADDRESS}",
    ]
    return plane.run.spawn("kubelet", command)


def _start_kube_proxy(plane: ControlPlane) -> Child:
    user = "system:kube-proxy"
    kubeconfig = plane.kubeconfig_for(user, plane.authority.issue("kube-proxy", user=user))
    configuration = plane.run.directory / "kube-proxy.json"
    configuration.write_text(
        node_config.kube_proxy(
            kubeconfig, health_port=processes.free_port(), metrics_port=processes.free_port()
        )
    )
    command: list[str | Path] = [
        golang.KUBERNETES.binary("kube-proxy"),
        f"--config={configuration}",
    ]
    return plane.run.spawn("kube-proxy", command)


def _node_ready(plane: ControlPlane) -> bool:
    for node in plane.get("nodes")["items"]:
        conditions = {c["type"]: c["status"] for c in node["status"].get("conditions", [])}
        return conditions.get("Ready") == "True"
    return False
