"""The chart's ValidatingAdmissionPolicy holds the operator's account to its own Jobs."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bed.control_plane import ControlPlane
from bed.processes import BedError
from cluster.operator.release import Release
from cluster.operator.replica import Operators
from cluster.operator.world import World, eventually
from modelexport_api.resource import parse
from modelexport_operator import job
from modelexport_operator.settings import load

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]
Change = Callable[[Object], object]


def _pod(made: Object) -> Object:
    pod: Object = made["spec"]["template"]["spec"]
    return pod


FORBIDDEN: list[tuple[Change, str]] = [
    (lambda made: made["metadata"].pop("ownerReferences"), "owned by one ModelExport"),
    (lambda made: made["metadata"]["ownerReferences"][0].update(kind="Pod"), "owned by one"),
    (lambda made: made["metadata"]["labels"].update({"modelexport.dev/uid": "u"}), "label of"),
    (lambda made: made["metadata"]["labels"].pop("app.kubernetes.io/managed-by"), "label of"),
    (lambda made: made["metadata"].update(name="other-0123abcd"), "the name of"),
    (lambda made: made["metadata"].update(name="digits"), "the name of"),
    (lambda made: _pod(made).update(automountServiceAccountToken=True), "without a token"),
    (lambda made: _pod(made).update(hostNetwork=True), "without a token"),
    (lambda made: _pod(made)["containers"][0].update(name="miner"), "run the exporter"),
]


@pytest.fixture
def release(control_plane: ControlPlane, operators: Operators, helm: Path, world: World) -> Release:
    values = {
        "crds": {"install": False},
        "operator": {"watchNamespaces": [world.namespace]},
        "admissionPolicy": {"enabled": True},
    }
    made = Release(control_plane, operators, helm, world.namespace, values=values)
    made.install()
    return made


def test_the_operator_s_account_is_held_to_its_own_jobs(world: World, release: Release) -> None:
    own = job.build(parse(world.create("digits")), load(release.settings_file()))
    own["spec"].pop(
        "podFailurePolicy"
    )  # refuses a container of another name before the policy does
    world.foreign_job("foreign", "u")
    foreign = job.job_name("foreign", "u")

    def dry(made: Object) -> str:
        return release.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(made))

    def refused(made: Object) -> str:
        try:
            dry(made)
        except BedError as error:
            return str(error)
        return ""

    ownerless = copy.deepcopy(own)
    FORBIDDEN[0][0](ownerless)
    eventually(lambda: "denied" in refused(ownerless), "the policy is in force")
    assert "created (server dry run)" in dry(own)
    for change, words in FORBIDDEN:
        changed = copy.deepcopy(own)
        change(changed)
        assert words in refused(changed)
    for command in (
        ("delete", "job", foreign, "--dry-run=server"),
        ("patch", "job", foreign, "--dry-run=server", "--patch", '{"spec": {"suspend": false}}'),
    ):
        with pytest.raises(BedError, match="owned by one ModelExport"):
            release.kubectl(*command)
    release.kubectl("create", "-f", "-", stdin=json.dumps(own))
    labels = '{"metadata": {"labels": {"a": "b"}}}'
    name = own["metadata"]["name"]
    with pytest.raises(BedError, match="changes neither"):
        release.kubectl("patch", "job", name, "--patch", labels)
    release.kubectl("patch", "job", name, "--patch", '{"spec": {"backoffLimit": 0}}')
    release.kubectl("delete", "job", name)
    release.uninstall()
