"""Tools that wait for a ModelExport, against the real API server: helm and kubectl."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from bed.processes import BedError
from cluster.operator.replica import Replica
from cluster.operator.world import SPEC, SUCCESS, Object, World, eventually, failure
from documentation.blocks import blocks
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage

pytestmark = pytest.mark.control_plane

PAGE = Path(__file__).parents[3] / "docs" / "gitops.md"
TIMEOUT = 60


@dataclass
class Release:
    """A release of a chart whose only template is the one in docs/gitops.md."""

    helm: Path
    world: World
    chart: Path

    def __post_init__(self) -> None:
        (template,) = [b.text for b in blocks(PAGE.read_text()) if b.language == "text"]
        (self.chart / "templates").mkdir(parents=True)
        (self.chart / "templates" / "export.yaml").write_text(template)
        (self.chart / "Chart.yaml").write_text("apiVersion: v2\nname: models\nversion: 1.0.0\n")

    def apply(self, spec: Object) -> subprocess.Popen[str]:
        """Start `helm upgrade --install --wait`."""
        values = self.chart / "values.yaml"
        values.write_text(json.dumps({"digits": spec}))
        return subprocess.Popen(
            [
                *(self.helm, "upgrade", "--install", "models", self.chart),
                *("--wait", "--timeout", f"{TIMEOUT}s", "--namespace", self.world.namespace),
                *("--kubeconfig", self.world.plane.kubeconfig),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def export(self, known: set[str]) -> str:
        """Wait for a ModelExport that is not known; return its name."""

        def made() -> str | None:
            found = self.world.plane.get("modelexports", "-n", self.world.namespace)["items"]
            return next((n for n in (o["metadata"]["name"] for o in found) if n not in known), None)

        return eventually(made, "a ModelExport of the release")


def fail(world: World, name: str) -> None:
    pod = world.live_pod(name)
    world.run_pod(pod)
    result = failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, [Stage.FETCH, Stage.LOAD])
    world.end_pod(pod, ExitCode.VERIFICATION, result)


def test_helm_waits_for_the_verdict_and_stops_at_a_failure(
    world: World, operator: Replica, helm: Path, tmp_path: Path
) -> None:
    release = Release(helm, world, tmp_path / "models")
    helm_process = release.apply(SPEC)
    first = release.export(set())
    pod = world.live_pod(first)
    world.run_pod(pod)
    world.wait_for_phase(first, "Running")
    assert helm_process.poll() is None
    world.end_pod(pod, 0, SUCCESS)
    output, _ = helm_process.communicate(timeout=TIMEOUT)
    assert helm_process.returncode == 0, output
    assert world.condition(first, "Complete")

    helm_process = release.apply({**SPEC, "model": {"factory": "digits:other"}})
    second = release.export({first})
    fail(world, second)
    world.wait_for(second, "Failed")
    began = time.monotonic()
    output, _ = helm_process.communicate(timeout=TIMEOUT)
    assert time.monotonic() - began < TIMEOUT / 4
    assert helm_process.returncode == 1
    assert f"ModelExport/{world.namespace}/{second}" in output
    assert "found this, expected that (do so)" in output


def test_a_new_export_is_not_ready_until_an_operator_has_seen_it(world: World) -> None:
    made = world.create("digits")
    assert made["metadata"]["generation"] == 1
    assert world.export("digits")["status"] == {"observedGeneration": -1}


def test_one_wait_for_both_ends_and_a_selection_by_phase_and_reason(
    world: World, operator: Replica
) -> None:
    world.create("good")
    world.create("bad")
    pod = world.live_pod("good")
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    fail(world, "bad")
    kubectl, here = world.plane.kubectl, f"--namespace={world.namespace}"
    both = ("modelexport/good", "modelexport/bad")
    kubectl("wait", here, "--for=condition=Finished", *both, f"--timeout={TIMEOUT}s")
    path = "jsonpath={.status.conditions[?(@.type=='Finished')].reason}"
    assert [kubectl("get", here, name, "-o", path) for name in both] == ["Complete", "Failed"]
    with pytest.raises(BedError, match="timed out"):
        kubectl("wait", here, "--for=condition=Ready", "modelexport/bad", "--timeout=1s")

    def select(selector: str) -> str:
        return kubectl("get", here, "mex", f"--field-selector={selector}", "-o", "name").strip()

    assert select("status.phase=Failed") == "modelexport.modelexport.dev/bad"
    assert select("status.reason=VerificationFailed") == "modelexport.modelexport.dev/bad"
    assert select("status.phase=Succeeded") == "modelexport.modelexport.dev/good"
