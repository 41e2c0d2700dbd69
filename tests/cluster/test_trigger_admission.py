"""The trigger's CRD on a real API server: what it accepts, and how it rejects."""

from __future__ import annotations

from typing import Any

import pytest

from bed.control_plane import ControlPlane
from bed.processes import BedError
from cluster.applying import apply, check_refused
from modelexport_api.trigger_resource import parse_trigger
from unit.api.trigger_manifests import INVALID, INVALID_TEMPLATES, TRIGGER, VALID

pytestmark = pytest.mark.control_plane


@pytest.mark.parametrize("manifest", [row[1] for row in VALID], ids=[row[0] for row in VALID])
def test_the_api_server_stores_what_python_reads(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any]
) -> None:
    stored = apply(cluster, namespace, manifest)
    assert stored["spec"] == parse_trigger(manifest).spec.to_wire()


@pytest.mark.parametrize(
    ("manifest", "field", "words"),
    [row[1:] for row in INVALID],
    ids=[row[0] for row in INVALID],
)
def test_the_api_server_rejects_with_field_and_rule(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any], field: str, words: str
) -> None:
    check_refused(cluster, namespace, manifest, field, words)


@pytest.mark.parametrize(
    ("manifest", "field"),
    [row[1:] for row in INVALID_TEMPLATES],
    ids=[row[0] for row in INVALID_TEMPLATES],
)
def test_an_invalid_template_is_rejected_at_admission(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any], field: str
) -> None:
    with pytest.raises(BedError, match=field):
        apply(cluster, namespace, manifest)


def test_get_shows_the_columns(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, TRIGGER)
    header = cluster.kubectl("get", "mext", "-n", namespace).splitlines()[0]
    columns = ["NAME", "KIND", "READY", "SUSPENDED", "TRIGGERED", "SKIPPED", "LAST", "AGE"]
    assert header.split() == columns


def test_kubectl_explains_the_template(cluster: ControlPlane) -> None:
    explained = cluster.kubectl("explain", "modelexporttrigger.spec.template.spec.destination.uri")
    assert "Directory to publish to" in explained
