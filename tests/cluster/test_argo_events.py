"""examples/handover/argo-events.yaml, run by Argo Events' own code against a real API server.

Only its event bus is not there: each event goes straight from the source to the sensor.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bed import golang, preflight
from bed.control_plane import ControlPlane
from bed.fixtures import require
from cluster.applying import apply
from modelexport_api.status import Artifact, ModelExportStatus, Phase
from unit.operator.objects import export_body

pytestmark = [pytest.mark.control_plane, pytest.mark.nightly, pytest.mark.timeout(1800)]

EXAMPLE = Path(__file__).parents[2] / "examples/handover/argo-events.yaml"
WORKFLOWS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "workflows.argoproj.io"},
    "spec": {
        "group": "argoproj.io",
        "scope": "Namespaced",
        "names": {"kind": "Workflow", "plural": "workflows", "singular": "workflow"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
"""What Argo Workflows installs, as far as creating one needs it."""
ARTIFACT = Artifact(
    uri="s3://models/digits/onnx/model.onnx",
    sha256="a" * 64,
    size_bytes=1,
    opset=20,
    ir_version=10,
    exporter="Dynamo",
    inputs=[],
    outputs=[],
)


class Events:
    """The running event source and sensor."""

    def __init__(self, cluster: ControlPlane, namespace: str, work: Path) -> None:
        self._cluster, self._namespace = cluster, namespace
        files = []
        for document in yaml.safe_load_all(EXAMPLE.read_text()):
            files.append(work / f"{document['kind']}.json")
            files[-1].write_text(json.dumps(document))
        self._out, self._log = work / "out", work / "log"
        with self._out.open("w") as out, self._log.open("w") as log:
            self._process = subprocess.Popen(
                [golang.ARGO_EVENTS.binary("argoevents"), namespace, *files],
                env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
                stdout=out,
                stderr=log,
            )

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def of(self, name: str) -> list[dict[str, Any]]:
        """What was said about the events of the export NAME."""
        assert self._process.poll() is None, self._log.read_text()
        # The last line may still be in the making; others are Argo Events' log.
        whole = self._out.read_text().rpartition("\n")[0].splitlines()
        lines = [json.loads(line) for line in whole if line.startswith('{"event":')]
        return [said for said in lines if said["event"] == name]

    def wait_for(self, name: str, count: int) -> list[dict[str, Any]]:
        ends = time.monotonic() + 30
        while len(self.of(name)) < count and time.monotonic() < ends:
            time.sleep(0.1)
        return self.of(name)

    def create(self, name: str) -> str:
        """Create an export; return its uid."""
        wanted = {key: export_body()[key] for key in ("apiVersion", "kind", "spec")}
        stored = apply(self._cluster, self._namespace, wanted | {"metadata": {"name": name}})
        return str(stored["metadata"]["uid"])

    def set(self, name: str, phase: Phase) -> None:
        """Write the status as the operator does."""
        artifact = ARTIFACT if phase is Phase.SUCCEEDED else None
        status = ModelExportStatus(phase=phase, artifact=artifact).to_wire()
        self._kubectl("patch", name, "--subresource=status", patch={"status": status})

    def label(self, name: str) -> None:
        self._kubectl("patch", name, patch={"metadata": {"labels": {"seen": "yes"}}})

    def _kubectl(self, verb: str, name: str, *words: str, patch: dict[str, Any]) -> None:
        self._cluster.kubectl(
            *(verb, "modelexport", name, "-n", self._namespace, *words),
            *("--type=merge", "--patch", json.dumps(patch)),
        )


@pytest.fixture
def events(cluster: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Events]:
    """Both, when the source has begun to watch."""
    running = Events(cluster, namespace, tmp_path)
    try:
        running.create("canary")
        while not running.of("canary"):
            for phase in (Phase.RUNNING, Phase.SUCCEEDED):
                running.set("canary", phase)
            time.sleep(0.5)
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module", autouse=True)
def argo() -> None:
    """Argo Events' code, built."""
    require("control-plane")
    if golang.ARGO_EVENTS.missing and (reason := preflight.go_missing()):
        pytest.skip(reason)
    golang.build(golang.ARGO_EVENTS)


@pytest.fixture(autouse=True)
def workflows(cluster: ControlPlane) -> Iterator[None]:
    """The kind that the example creates."""
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(WORKFLOWS))
    cluster.wait_for_crds()
    yield
    cluster.kubectl("delete", "crd", "workflows.argoproj.io")


def test_a_workflow_starts_once_after_a_success(
    cluster: ControlPlane, namespace: str, events: Events
) -> None:
    uid = events.create("digits")
    events.create("refused")
    for phase in (Phase.PENDING, Phase.RUNNING, Phase.FAILED):
        events.set("refused", phase)
    for phase in (Phase.PENDING, Phase.RUNNING, Phase.SUCCEEDED):
        events.set("digits", phase)
    events.label("digits")

    first, later = events.wait_for("digits", 2)
    assert first == {"event": "digits", "created": f"announce-{uid}"}
    assert later == {"event": "digits"}
    assert events.of("refused") == []
    found = cluster.kubectl(
        "get", "workflow", f"announce-{uid}", "-n", namespace, "-o", "jsonpath={.spec.arguments}"
    )
    assert json.loads(found) == {"parameters": [{"name": "artifact", "value": ARTIFACT.uri}]}
