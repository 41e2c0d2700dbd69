"""The CRD on a real API server: accepted, defaulted, and its refusals are the CLI's refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bed.control_plane import ControlPlane
from bed.processes import BedError
from modelexport_api.resource import parse
from unit.api.manifests import INVALID, VALID, changed

pytestmark = pytest.mark.control_plane
CRDS = Path(__file__).resolve().parents[2] / "crds"


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    control_plane.kubectl("apply", "-f", str(CRDS))
    control_plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    yield control_plane
    control_plane.kubectl("delete", "modelexports", "--all", "-A")


def apply(cluster: ControlPlane, namespace: str, manifest: dict[str, Any]) -> dict[str, Any]:
    output = cluster.kubectl(
        "apply", "-n", namespace, "-o", "json", "-f", "-", stdin=json.dumps(manifest)
    )
    applied: dict[str, Any] = json.loads(output)
    return applied


def test_the_api_server_fills_in_the_defaults_that_python_fills_in(
    cluster: ControlPlane, namespace: str
) -> None:
    stored = apply(cluster, namespace, VALID)
    assert stored["spec"] == parse(VALID).spec.to_wire()


@pytest.mark.parametrize(
    ("manifest", "field", "words"),
    [row[1:] for row in INVALID],
    ids=[row[0] for row in INVALID],
)
def test_the_api_server_refuses_and_names_field_and_rule(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(BedError) as caught:
        apply(cluster, namespace, manifest)
    assert field in str(caught.value)
    assert words in str(caught.value)


def test_a_spec_never_changes(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, VALID)
    with pytest.raises(BedError, match="create a new ModelExport for a changed spec"):
        apply(cluster, namespace, changed(export={"opset": 19}))


def test_kubectl_explains_every_level(cluster: ControlPlane) -> None:
    explained = cluster.kubectl("explain", "modelexport.spec.verification.tolerance")
    assert "Allowed absolute error" in explained


def test_get_shows_the_columns(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, VALID)
    header = cluster.kubectl("get", "mex", "-n", namespace, "-o", "wide").splitlines()[0]
    assert header.split()[:6] == ["NAME", "PHASE", "STAGE", "PROGRESS", "VERDICT", "REASON"]
