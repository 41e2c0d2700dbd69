"""The controller of JobSet (Go) on the same control plane: what another operator costs there.

It is built from a checkout of github.com/kubernetes-sigs/jobset (`go build -o manager .`), which no
registry of Go modules has. It runs as its own manifests say, with its webhooks and its default
limits (500 requests a second), as administrator and without an election.
"""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import yaml

from bed.control_plane import ControlPlane
from bed.processes import Child, free_port, wait_until
from cluster.operator.world import Object, World

GROUP = "jobset.x-k8s.io"
PLURAL = "jobsets"
_VERSION = "v1alpha2"
_CRD = Path("config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml")
_WEBHOOKS = Path("config/components/webhook")
_NAME_LABEL = "jobset.sigs.k8s.io/jobset-name"
_LOCAL = "127.0.0.1"


def start(plane: ControlPlane, checkout: Path) -> Child:
    """Install JobSet's CRD and webhooks, and start its controller; it lives as long as the run."""
    plane.kubectl("apply", "--server-side", "--filename", checkout / _CRD)
    plane.wait_for_crds()
    directory = plane.run.subdirectory("jobset")
    port, health = free_port(), free_port()
    certificate = plane.authority.issue("jobset", user="jobset", hosts=[_LOCAL])
    shutil.copy(certificate.certificate, directory / "tls.crt")
    shutil.copy(certificate.key, directory / "tls.key")
    settings = {
        "apiVersion": f"config.{GROUP}/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"{_LOCAL}:{health}"},
        "metrics": {"bindAddress": f"{_LOCAL}:{free_port()}"},
        "webhook": {"port": port, "certDir": str(directory)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }
    written = directory / "settings.json"
    written.write_text(json.dumps(settings))
    controller = plane.run.spawn(
        "jobset",
        [checkout / "manager", "--config", written],
        {"KUBECONFIG": str(plane.kubeconfig)},
    )
    log = controller.log
    wait_until(
        lambda: "Serving webhook server" in log.read_text(),
        "JobSet's webhooks are served",
        children=[controller],
    )
    plane.apply(*_webhooks(checkout, f"https://{_LOCAL}:{port}", plane))
    return controller


def _webhooks(checkout: Path, url: str, plane: ControlPlane) -> list[Object]:
    """Return the webhooks of the manifests, at an address in place of a Service."""
    authority = base64.b64encode(plane.authority.certificate.read_bytes()).decode()
    manifests = (checkout / _WEBHOOKS / "manifests.yaml").read_text()
    found: list[Object] = list(yaml.safe_load_all(manifests))
    for configuration in found:
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": url + path, "caBundle": authority}
            if path.endswith("-pod"):  # as config/components/webhook/patches
                exists = {"key": _NAME_LABEL, "operator": "Exists"}
                webhook["objectSelector"] = {"matchExpressions": [exists]}
    return found


def create(world: World, name: str, job: Object) -> None:
    """Create a JobSet of one Job, with the labels and the specification of JOB."""
    labels = {"labels": job["metadata"]["labels"]}
    template = {"metadata": labels, "spec": job["spec"]}
    body = {
        "apiVersion": f"{GROUP}/{_VERSION}",
        "kind": "JobSet",
        "metadata": {"name": name, **labels},
        "spec": {"replicatedJobs": [{"name": "export", "replicas": 1, "template": template}]},
    }
    world.custom.create_namespaced_custom_object(GROUP, _VERSION, world.namespace, PLURAL, body)


def completed(world: World) -> int:
    """Return how many JobSets are complete."""
    found = world.custom.list_namespaced_custom_object(GROUP, _VERSION, world.namespace, PLURAL)
    states = [one.get("status", {}).get("terminalState") for one in found["items"]]
    return states.count("Completed")


def remove(world: World) -> None:
    """Delete all JobSets, and JobSet's webhooks."""
    world.custom.delete_collection_namespaced_custom_object(
        GROUP, _VERSION, world.namespace, PLURAL
    )
    for kind in ("mutating", "validating"):
        world.plane.kubectl(
            "delete", f"{kind}webhookconfiguration", f"{kind}-webhook-configuration"
        )
