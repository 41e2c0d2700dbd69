"""Install, upgrade, uninstall and install again, with exports running."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bed.control_plane import ControlPlane
from bed.processes import BedError
from cluster.operator import previous
from cluster.operator.release import Release
from cluster.operator.replica import Operators
from cluster.operator.world import SUCCESS, World, eventually
from modelexport_api.pod import PodResult
from modelexport_operator import installed
from modelexport_operator.job import job_name
from unit.chart.rendering import CHART

pytestmark = pytest.mark.control_plane

PREVIOUS = Path(__file__).resolve().parents[1] / "chart" / "previous.tgz"


@pytest.fixture
def release(control_plane: ControlPlane, operators: Operators, helm: Path, world: World) -> Release:
    """A release that owns the CRDs; that the bed made them is the first adoption."""
    watched = {"operator": {"watchNamespaces": [world.namespace]}}
    return Release(control_plane, operators, helm, world.namespace, values=watched)


def finish(world: World, name: str, result: PodResult | str = SUCCESS) -> None:
    """Let the export's pod run and succeed."""
    pod = world.live_pod(name)
    world.run_pod(pod)
    world.end_pod(pod, 0, result)
    world.wait_for(name, "Complete")


@pytest.fixture
def elsewhere(control_plane: ControlPlane, operators: Operators) -> Iterator[Operators]:
    """Operators of another namespace."""
    name = f"elsewhere-{secrets.token_hex(4)}"
    control_plane.create_namespace(name)
    yield replace(operators, namespace=name)
    control_plane.delete_namespace(name, wait=False)


def release_in(operators: Operators, helm: Path, watched: str, **values: object) -> Release:
    """A release in the namespace of the operators that watches another one, or its own."""
    found = {"operator": {"watchNamespaces": [watched]}, **values}
    return Release(operators.plane, operators, helm, operators.namespace, values=found)


def test_exports_survive_upgrade_uninstall_and_another_release(
    world: World, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.install(PREVIOUS, "--take-ownership", "--force-conflicts")  # kubectl applied them
    before = release.start("before")
    pods = {}
    for name in ("upgraded", "reinstalled"):
        world.create(name)
        pods[name] = world.live_pod(name)
        world.run_pod(pods[name])
        world.wait_for(name, "Scheduled")

    release.values["admissionPolicy"] = {"enabled": True}
    release.install(CHART)
    assert before.terminate() == 0
    after = release.start("after")
    world.end_pod(pods["upgraded"], 0, SUCCESS)
    world.wait_for("upgraded", "Complete")
    monkeypatch.setenv("KUBECONFIG", str(release.account_kubeconfig()))
    monkeypatch.setenv("POD_NAMESPACE", release.namespace)
    assert installed.main(["--config", str(release.settings_file())]) == 0

    release.uninstall()
    began = time.monotonic()
    eventually(lambda: release.lease() is None, "the Lease is given back", seconds=10)
    print(f"the Lease was given back after {time.monotonic() - began:.1f} s")
    after.terminate()
    assert world.exists("upgraded")
    assert world.live_pod("reinstalled") == pods["reinstalled"]

    release.name = "exports"
    with pytest.raises(BedError, match="ownership"):
        release.install(CHART)
    release.install(CHART, "--take-ownership")
    release.start("again")
    world.end_pod(pods["reinstalled"], 0, SUCCESS)
    world.wait_for("reinstalled", "Complete")
    assert [len(world.jobs(name)) for name in pods] == [1, 1]
    release.uninstall()


def test_the_test_says_what_an_installation_lacks(
    world: World,
    release: Release,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    release.values |= {"crds": {"install": False}, "rbac": {"create": False}}
    release.install()
    monkeypatch.setenv("KUBECONFIG", str(release.account_kubeconfig()))
    monkeypatch.setenv("POD_NAMESPACE", release.namespace)
    assert installed.main(["--config", str(release.settings_file()), "--seconds", "2"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        f"cannot list modelexports in {world.namespace}",
        f"cannot list modelexporttriggers in {world.namespace}",
        f"the Lease {world.namespace}/modelexport was not renewed within 2 s",
    ]
    release.uninstall()


def test_a_release_in_another_namespace_adopts_crds_and_exports(
    world: World, release: Release, elsewhere: Operators, helm: Path
) -> None:
    release.install(CHART, "--take-ownership", "--force-conflicts")
    before = release.start("before")
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.wait_for("digits", "Scheduled")
    release.uninstall()
    before.terminate()

    second = release_in(elsewhere, helm, world.namespace)
    with pytest.raises(BedError, match="ownership"):
        second.install(CHART)
    second.install(CHART, "--take-ownership")
    after = second.start("after")
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for("digits", "Complete")
    assert len(world.jobs("digits")) == 1
    assert after.requests("POST", "jobs") == 0
    second.uninstall()


def test_two_releases_share_the_crds_and_no_export(
    world: World, release: Release, elsewhere: Operators, helm: Path
) -> None:
    """The names of the releases are the same, as where two teams follow the same page."""
    release.install(CHART, "--take-ownership", "--force-conflicts")
    other = World(world.plane, elsewhere.namespace)
    second = release_in(elsewhere, helm, other.namespace, crds={"install": False})
    second.install()
    replicas = {"first": release.start("first"), "second": second.start("second")}
    places = {"first": world, "second": other}
    for place in places.values():
        for name in ("a", "b"):
            place.create(name)
    for owner, place in places.items():
        for name in ("a", "b"):
            finish(place, name)
            assert len(place.jobs(name)) == 1
            ended = [event for event in place.events(name) if event["reason"] == "Complete"]
            assert [event["reportingInstance"] for event in ended] == [owner]
    assert {owner: one.requests("POST", "jobs") for owner, one in replicas.items()} == {
        "first": 2,
        "second": 2,
    }

    release.uninstall()  # the CRDs are kept
    replicas["first"].terminate()
    other.create("c")
    finish(other, "c")
    second.uninstall()
    assert other.exists("c")


def test_exports_of_the_previous_version_s_operator_are_finished(
    world: World, release: Release
) -> None:
    release.install(PREVIOUS, "--take-ownership", "--force-conflicts")
    for export in previous.EXPORTS.values():
        export.restore(world)
    release.install(CHART)
    release.start("after")
    ended = {"succeeded", "failed"}
    for name in ("waiting", "running", "retrying"):
        finish(world, name, previous.TERMINATIONS["Succeeded"])
        assert world.export(name)["status"]["artifact"]["opset"] == 20
    for pod in eventually(lambda: world.pods("folds")[1:] and world.pods("folds"), "both shares"):
        share = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
        world.run_pod(pod["metadata"]["name"])
        world.end_pod(pod["metadata"]["name"], 0, previous.TERMINATIONS[f"share {share}"])
    assert world.wait_for("folds", "Complete")["items"]["succeeded"] == 5
    world.patch("suspended", {"spec": {"suspend": False}})
    finish(world, "suspended", previous.TERMINATIONS["Succeeded"])
    for name, export in previous.EXPORTS.items():
        assert len(world.jobs(name)) == (name not in ended), name
        if export.jobs:  # by the name that the previous operator gave it
            uid = world.export(name)["metadata"]["uid"]
            assert export.jobs[0]["metadata"]["name"] == job_name(name, export.uid)
            assert world.jobs(name)[0]["metadata"]["name"] == job_name(name, uid)
    for name in ended:
        status = world.export(name)["status"]
        recorded = previous.EXPORTS[name].status
        assert {key: status[key] for key in recorded} == {**recorded, "jobName": status["jobName"]}
    release.uninstall()
