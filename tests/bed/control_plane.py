"""A Kubernetes control plane: etcd, kube-apiserver and kube-controller-manager, unmodified.

Ready means what tests rely on: the API answers and namespaces get their service account, which
needs all three processes to work together.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bed import golang, processes
from bed.certificates import Authority, KeyPair, SigningKey, signing_key
from bed.processes import Child
from bed.runs import Run

SERVICE_RANGE = "10.96.0.0/16"
API_SERVICE_ADDRESS = "10.96.0.1"

_LOOPBACK = "127.0.0.1"
_START_SECONDS = 180
"""On a machine that is busy with other tests; alone it takes 10."""


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane and the administrator's way in."""

    run: Run
    url: str
    kubeconfig: Path
    authority: Authority
    children: tuple[Child, ...]

    def kubectl(self, *arguments: str | Path, stdin: str | None = None) -> str:
        """Run kubectl as the administrator; what it printed, or a `BedError` with what it said."""
        kubectl = golang.KUBERNETES.binary("kubectl")
        return processes.call([kubectl, "--kubeconfig", self.kubeconfig, *arguments], stdin=stdin)

    def get(self, *arguments: str) -> dict[str, Any]:
        """`kubectl get ARGUMENTS` as the object or list it names."""
        found: dict[str, Any] = json.loads(self.kubectl("get", *arguments, "--output", "json"))
        return found

    def apply(self, *objects: object) -> None:
        """`kubectl apply` of manifests given as dictionaries."""
        manifests = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "--filename", "-", stdin=json.dumps(manifests))

    def kubeconfig_for(self, user: str, pair: KeyPair) -> Path:
        """A kubeconfig with which USER reaches this API server."""
        return write_kubeconfig(self.run.directory, self.url, self.authority, user, pair)

    def wait_for_crds(self) -> None:
        """Wait until all CRDs are served; `kubectl wait` fails if one has no conditions yet."""

        def served(crd: dict[str, Any]) -> bool:
            conditions = crd.get("status", {}).get("conditions") or []
            return any((c["type"], c["status"]) == ("Established", "True") for c in conditions)

        processes.wait_until(
            lambda: all(served(crd) for crd in self.get("crd")["items"]), "all CRDs are served"
        )

    def create_namespace(self, name: str) -> None:
        """Create a namespace that is ready for pods: it has its service account."""
        self.kubectl("create", "namespace", name)
        processes.wait_until(
            lambda: self._has_service_account(name), f"a service account in {name}", seconds=30
        )

    def delete_namespace(self, name: str, *, wait: bool = True) -> None:
        self.kubectl("delete", "namespace", name, f"--wait={str(wait).lower()}", "--timeout=60s")

    def _has_service_account(self, namespace: str) -> bool:
        found = self.kubectl(
            *("get", "serviceaccount", "default", "--namespace", namespace),
            *("--ignore-not-found", "--output", "name"),
        )
        return bool(found.strip())


def start(run: Run, address: str = _LOOPBACK) -> ControlPlane:
    """Start a control plane that lives as long as RUN, its API server listening on ADDRESS.

    An address other than the loopback's is also the one that pods use to reach the API.
    """
    authority = Authority.create(run.subdirectory("certificates"))
    signing = signing_key(authority.directory)
    etcd_url, etcd = _start_etcd(run)
    port = processes.free_port()
    apiserver = run.spawn(
        "kube-apiserver", _apiserver_command(run, authority, signing, etcd_url, f"{address}:{port}")
    )
    url = f"https://{address}:{port}"
    admin = authority.issue("admin", user="admin", group="system:masters")
    kubeconfig = write_kubeconfig(run.directory, url, authority, "admin", admin)
    plane = ControlPlane(run, url, kubeconfig, authority, (etcd, apiserver))
    # The controller manager waits 10 s for a healthy API server, then ends.
    _wait_until_answers(plane, _healthy, "the API server is healthy")
    manager = run.spawn("kube-controller-manager", _manager_command(run, authority, url, signing))
    plane = replace(plane, children=(*plane.children, manager))
    _wait_until_answers(plane, _has_default_account, "the controller manager works")
    return plane


def write_kubeconfig(
    directory: Path, url: str, authority: Authority, user: str, pair: KeyPair
) -> Path:
    """Write DIRECTORY/USER.kubeconfig; JSON is YAML."""
    cluster = {"server": url, "certificate-authority": str(authority.certificate)}
    keys = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bed", "cluster": cluster}],
        "users": [{"name": user, "user": keys}],
        "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": user}}],
        "current-context": "bed",
    }
    path = directory / f"{user.replace(':', '-')}.kubeconfig"
    path.write_text(json.dumps(config, indent=2))
    return path


def _start_etcd(run: Run) -> tuple[str, Child]:
    clients = f"http://{_LOOPBACK}:{processes.free_port()}"
    peers = f"http://{_LOOPBACK}:{processes.free_port()}"
    command: list[str | Path] = [
        golang.ETCD.binary("etcd"),
        *("--data-dir", run.subdirectory("etcd"), "--name", "bed"),
        *("--listen-client-urls", clients, "--advertise-client-urls", clients),
        *("--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers),
        *("--initial-cluster", f"bed={peers}", "--log-level", "warn"),
        "--unsafe-no-fsync",
    ]
    return clients, run.spawn("etcd", command)


def _apiserver_command(
    run: Run, authority: Authority, signing: SigningKey, etcd: str, listen: str
) -> list[str | Path]:
    address, _, port = listen.rpartition(":")
    names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"]
    hosts = [*names, _LOOPBACK, address, API_SERVICE_ADDRESS]
    serving = authority.issue("apiserver", user="kube-apiserver", hosts=hosts)
    to_kubelet = authority.issue("apiserver-kubelet", user="apiserver", group="system:masters")
    return [
        golang.KUBERNETES.binary("kube-apiserver"),
        f"--etcd-servers={etcd}",
        f"--bind-address={address}",
        f"--advertise-address={address}",
        # The loopback is no endpoint that a pod could use; without pods none is needed.
        f"--endpoint-reconciler-type={'none' if address == _LOOPBACK else 'lease'}",
        f"--secure-port={port}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        f"--cert-dir={run.subdirectory('apiserver')}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--client-ca-file={authority.certificate}",
        f"--kubelet-certificate-authority={authority.certificate}",
        f"--kubelet-client-certificate={to_kubelet.certificate}",
        f"--kubelet-client-key={to_kubelet.key}",
        # Otherwise `kubectl logs` looks the node's name up, and no DNS server knows it.
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-account-key-file={signing.public}",
        f"--service-account-signing-key-file={signing.private}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--profiling=false",
    ]


def _manager_command(
    run: Run, authority: Authority, url: str, signing: SigningKey
) -> list[str | Path]:
    user = "system:kube-controller-manager"
    pair = authority.issue("controller-manager", user=user)
    return [
        golang.KUBERNETES.binary("kube-controller-manager"),
        f"--kubeconfig={write_kubeconfig(run.directory, url, authority, user, pair)}",
        f"--service-account-private-key-file={signing.private}",
        f"--root-ca-file={authority.certificate}",
        "--use-service-account-credentials",
        f"--flex-volume-plugin-dir={run.subdirectory('volume-plugins')}",
        "--leader-elect=false",
        "--secure-port=0",
        # A test must not wait for client-side throttling.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--profiling=false",
    ]


def _wait_until_answers(
    plane: ControlPlane, condition: Callable[[ControlPlane], bool], what: str
) -> None:
    """Wait until CONDITION holds; a call that fails meanwhile is a no."""

    def holds() -> bool:
        try:
            return condition(plane)
        except (processes.BedError, subprocess.SubprocessError):
            return False

    processes.wait_until(holds, what, children=plane.children, seconds=_START_SECONDS)


def _healthy(plane: ControlPlane) -> bool:
    return plane.kubectl("get", "--raw", "/healthz").strip() == "ok"


def _has_default_account(plane: ControlPlane) -> bool:
    return plane._has_service_account("default")
