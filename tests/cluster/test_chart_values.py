"""The API server takes what the chart renders for each file of ci/, and the Jobs it sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bed import processes
from bed.control_plane import ControlPlane
from modelexport_api.resource import parse
from modelexport_operator import job
from unit.api.manifests import VALID
from unit.chart.rendering import CHART, settings

pytestmark = pytest.mark.control_plane

MONITORING = Path(__file__).parent / "chart" / "monitoring_crds.json"
"""Those of the Prometheus operator 0.93, without descriptions."""
TEAMS = ("team-a", "team-b")
ACCOUNTS = ("modelexport", "exports-operator", "exports")
"""Of the pods in the files: a pod without its account is refused."""
FILES = sorted((CHART / "ci").glob("*.yaml"))


@pytest.fixture(scope="module")
def platform(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """A cluster with the namespaces of teams, and the kinds of the Prometheus operator."""
    control_plane.kubectl("create", "-f", "-", stdin=MONITORING.read_text())
    control_plane.wait_for_crds()
    for team in TEAMS:
        control_plane.create_namespace(team)
        label = "pod-security.kubernetes.io/enforce=restricted"
        control_plane.kubectl("label", "namespace", team, label)
        for account in ACCOUNTS:
            control_plane.kubectl("create", "serviceaccount", account, "--namespace", team)
    yield _in_namespace(control_plane, TEAMS[0])
    control_plane.kubectl("delete", "--wait=false", "-f", "-", stdin=MONITORING.read_text())
    for team in TEAMS:
        control_plane.delete_namespace(team, wait=False)


@pytest.mark.parametrize("values", FILES, ids=lambda path: path.stem)
def test_the_api_server_takes_it(platform: ControlPlane, helm: Path, values: Path) -> None:
    text = processes.call(
        [helm, "template", "modelexport", CHART, "--namespace", "team-a", "--values", values]
    )
    dry = ("apply", "--dry-run=server", "--validate=strict", "-f", "-")
    made = platform.kubectl(*dry, stdin=text)
    objects = [document for document in yaml.safe_load_all(text) if document]
    assert len(made.splitlines()) == len(objects)
    manifest = {**VALID, "metadata": {"name": "digits", "namespace": "team-a", "uid": "u"}}
    built = job.build(parse(manifest), settings(objects))
    for made_by_operator in (built, _pod(built)):
        platform.kubectl(*dry, stdin=json.dumps(made_by_operator))


def _in_namespace(plane: ControlPlane, namespace: str) -> ControlPlane:
    """Return the plane with a default namespace: the option would refuse objects of others."""
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["contexts"][0]["context"]["namespace"] = namespace
    path = plane.run.directory / f"{namespace}.kubeconfig"
    path.write_text(json.dumps(config))
    return replace(plane, kubeconfig=path)


def _pod(built: dict[str, Any]) -> dict[str, Any]:
    """Return the pod that the Job controller would create: the namespace enforces `restricted`."""
    template = built["spec"]["template"]
    spec = {
        k: v
        for k, v in template["spec"].items()
        if k not in ("runtimeClassName", "priorityClassName")
    }
    meta = {**template["metadata"], "name": "digits", "namespace": "team-a"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
