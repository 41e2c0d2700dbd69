"""The CRD on a real API server: defaults, and the same rejections as those of the CLI."""

from __future__ import annotations

from typing import Any

import pytest

from bed.control_plane import ControlPlane
from bed.processes import BedError
from cluster.applying import apply, check_refused
from modelexport_api.resource import parse
from unit.api import strict_manifests
from unit.api.manifests import ACCEPTED, INVALID, VALID, changed

pytestmark = pytest.mark.control_plane


def test_the_api_server_sets_the_same_defaults_as_python(
    cluster: ControlPlane, namespace: str
) -> None:
    stored = apply(cluster, namespace, VALID)
    assert stored["spec"] == parse(VALID).spec.to_wire()


@pytest.mark.parametrize(
    ("manifest", "field", "words"),
    [row[1:] for row in INVALID],
    ids=[row[0] for row in INVALID],
)
def test_the_api_server_rejects_with_field_and_rule(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any], field: str, words: str
) -> None:
    check_refused(cluster, namespace, manifest, field, words)


@pytest.mark.parametrize("manifest", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_the_api_server_accepts_them(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any]
) -> None:
    assert apply(cluster, namespace, manifest)["spec"] == parse(manifest).spec.to_wire()


@pytest.mark.parametrize(
    "change",
    [
        {"export": {"opset": 19}},
        {"outputs": ["other"]},
        {"outputs": None},
        {"activeDeadlineSeconds": 7},
        {"serviceAccountName": "another"},
        {"podTemplate": {"spec": {"nodeSelector": {"gpu": "a100"}}}},
        {"model": {"factory": "model:build", "kwargs": {"width": 2}}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_spec_is_immutable(cluster: ControlPlane, namespace: str, change: dict[str, Any]) -> None:
    before = {"podTemplate": {"spec": {"nodeSelector": {"gpu": "t4"}}}}
    apply(cluster, namespace, changed(**before))
    with pytest.raises(BedError, match="create a new ModelExport for a changed spec"):
        apply(cluster, namespace, changed(**{**before, **change}))


def test_suspend_and_ttl_may_change(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, VALID)
    changes = {"suspend": True, "ttlSecondsAfterFinished": 60}
    assert apply(cluster, namespace, changed(**changes))["spec"].items() >= changes.items()
    apply(cluster, namespace, changed(ttlSecondsAfterFinished=90))
    assert "ttlSecondsAfterFinished" not in apply(cluster, namespace, VALID)["spec"]


def test_kubectl_explains_every_level(cluster: ControlPlane) -> None:
    explained = cluster.kubectl("explain", "modelexport.spec.verification.tolerance")
    assert "Maximum absolute error" in explained


def test_get_shows_the_columns(cluster: ControlPlane, namespace: str) -> None:
    apply(cluster, namespace, VALID)
    header = cluster.kubectl("get", "mex", "-n", namespace, "-o", "wide").splitlines()[0]
    assert header.split()[:6] == ["NAME", "PHASE", "STAGE", "PROGRESS", "VERDICT", "REASON"]


@pytest.mark.parametrize(
    "manifest",
    [row[1] for row in strict_manifests.ACCEPTED],
    ids=[row[0] for row in strict_manifests.ACCEPTED],
)
def test_the_api_server_accepts_what_python_accepts(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any]
) -> None:
    assert apply(cluster, namespace, manifest)["spec"] == parse(manifest).spec.to_wire()


@pytest.mark.parametrize(
    ("manifest", "field"),
    [row[1:] for row in strict_manifests.REFUSED],
    ids=[row[0] for row in strict_manifests.REFUSED],
)
def test_the_api_server_refuses_what_python_refuses(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any], field: str
) -> None:
    check_refused(cluster, namespace, manifest, field, "")


@pytest.mark.parametrize(
    ("manifest", "words"),
    [row[1:] for row in strict_manifests.WORDS_OF_THE_SERVER],
    ids=[row[0] for row in strict_manifests.WORDS_OF_THE_SERVER],
)
def test_the_api_server_has_the_words_that_python_repeats(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any], words: str
) -> None:
    check_refused(cluster, namespace, manifest, "", words)
