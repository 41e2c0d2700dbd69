"""The API server's Pod Security Standard `restricted` and our check of pod templates agree."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bed.control_plane import ControlPlane
from bed.processes import BedError
from modelexport_operator import pod_contract
from modelexport_operator.job import build
from unit.operator.objects import SETTINGS, export
from unit.operator.pod_standard import ACCEPTED, REFUSED_BY_BOTH, Template

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def restricted(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace whose pods must comply with the newest standard."""
    name = "pod-standard"
    control_plane.create_namespace(name)
    labels = [
        f"pod-security.kubernetes.io/enforce{end}" for end in ("=restricted", "-version=latest")
    ]
    control_plane.kubectl("label", "namespace", name, *labels)
    yield name
    control_plane.delete_namespace(name, wait=False)


def try_pod(plane: ControlPlane, namespace: str, template: Template) -> None:
    """Ask the API server about the pod of an export. Raises BedError."""
    job = build(export({"podTemplate": template}), SETTINGS)
    pod = {"apiVersion": "v1", "kind": "Pod", **job["spec"]["template"]}
    pod["metadata"] = {**pod["metadata"], "name": "digits"}
    plane.kubectl(
        *("create", "--dry-run=server", "--validate=strict", "-n", namespace, "-f", "-"),
        stdin=json.dumps(pod),
    )


@pytest.mark.parametrize("template", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_what_we_accept_is_restricted(
    control_plane: ControlPlane, restricted: str, template: Template
) -> None:
    try_pod(control_plane, restricted, template)


@pytest.mark.parametrize(
    "template", [row[1] for row in REFUSED_BY_BOTH], ids=[row[0] for row in REFUSED_BY_BOTH]
)
def test_without_our_check_the_api_server_refuses_it(
    control_plane: ControlPlane,
    restricted: str,
    monkeypatch: pytest.MonkeyPatch,
    template: Template,
) -> None:
    monkeypatch.setattr(pod_contract, "check", lambda *_: None)
    with pytest.raises(BedError, match=r"violates PodSecurity|is invalid"):
        try_pod(control_plane, restricted, template)
