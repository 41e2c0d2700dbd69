"""What helm, Flux and Argo CD compute from our statuses, with the libraries that they use."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from hypothesis import given

from bed import fixtures, golang, processes
from documentation.blocks import blocks
from modelexport_api import KIND
from modelexport_api.crds import model_export, model_export_trigger
from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.observe import ObservedJob
from modelexport_operator.triggers.ready import Readiness, with_readiness
from unit.operator.histories import STATES, UNOBSERVED, Pods, histories, stored
from unit.operator.objects import NOW, Object, export_body

PAGE = Path(__file__).parents[3] / "docs" / "gitops.md"
HEALTH = {"InProgress": "Progressing", "Current": "Healthy", "Failed": "Degraded"}
FINISHED = {"Succeeded": "Current", "Failed": "Failed"}


class Tools:
    """The process that answers (tests/bed/gitops)."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [golang.GITOPS.binary("gitops")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def kstatus(self, body: Object) -> str:
        return cast("str", self._ask(kstatus=body)["status"])

    def argo(self, script: str, body: Object) -> str:
        return cast("str", self._ask(lua=script, object=body)["status"])

    def flux(self, check: dict[str, str], body: Object) -> str:
        """The order of Flux: generation, inProgress, failed, current; else InProgress."""
        generation = body["metadata"]["generation"]
        if body["status"].get("observedGeneration", generation) != generation:
            return "InProgress"
        for name, status in (("failed", "Failed"), ("current", "Current")):
            if self._ask(cel=check[name], object=body).get("value"):
                return status
        return "InProgress"

    def close(self) -> None:
        self._process.communicate(timeout=10)

    def _ask(self, **question: object) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(processes.ask(self._process, json.dumps(question)))
        assert "error" not in answer, answer
        return answer


@pytest.fixture(scope="module")
def tools() -> Iterator[Tools]:
    fixtures.require("gitops")
    started = Tools()
    yield started
    started.close()


def documents() -> list[dict[str, Any]]:
    return [yaml.safe_load(b.text) for b in blocks(PAGE.read_text()) if b.language == "yaml"]


def health_check() -> str:
    (config,) = [found for found in documents() if found.get("kind") == "ConfigMap"]
    (script,) = config["data"].values()
    return cast("str", script)


def expressions() -> dict[str, str]:
    (found,) = [found["healthCheckExprs"] for found in documents() if "healthCheckExprs" in found]
    (check,) = found
    assert check["kind"] == KIND
    return cast("dict[str, str]", check)


def test_an_unseen_object_is_in_progress(tools: Tools) -> None:
    for crd in (model_export(), model_export_trigger()):
        (version,) = crd["spec"]["versions"]
        status = version["schema"]["openAPIV3Schema"]["properties"]["status"]
        assert status["default"] == UNOBSERVED
    body = export_body(status=UNOBSERVED)
    assert tools.kstatus(body) == "InProgress"
    assert tools.argo(health_check(), body) == "Progressing"
    assert tools.flux(expressions(), body) == "InProgress"


@pytest.mark.parametrize(
    ("spec", "found", "pods", "status"),
    [row[1:] for row in STATES],
    ids=[row[0] for row in STATES],
)
def test_each_state(
    tools: Tools, spec: Object, found: ObservedJob | None, pods: Pods, status: str
) -> None:
    body = stored(spec, found, pods)
    assert tools.kstatus(body) == status
    suspended = bool(spec.get("suspend"))
    assert tools.argo(health_check(), body) == ("Suspended" if suspended else HEALTH[status])
    assert tools.flux(expressions(), body) == ("Current" if suspended else status)


@given(histories())
def test_every_history_waits_until_the_end(tools: Tools, versions: list[Object]) -> None:
    for body in versions:
        status = body["status"]
        seen = status["observedGeneration"] == body["metadata"]["generation"]
        expected = FINISHED.get(status.get("phase", ""), "InProgress") if seen else "InProgress"
        assert tools.kstatus(body) == expected
        if not body["spec"].get("suspend"):
            assert tools.argo(health_check(), body) == HEALTH[expected]


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        (Readiness("True", "Watching", "watching jobs"), "Current"),
        (Readiness("True", "Suspended", "spec.suspend is true"), "Current"),
        (Readiness("False", "KindNotInstalled", "no such kind"), "InProgress"),
        (Readiness("False", "TemplateInvalid", "spec.template: no"), "Failed"),
    ],
)
def test_triggers(tools: Tools, ready: Readiness, expected: str) -> None:
    status = with_readiness(ModelExportTriggerStatus(), ready, 1, NOW)
    body = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExportTrigger",
        "metadata": {"name": "auto", "generation": 1},
        "status": status.to_wire(),
    }
    assert tools.kstatus(body) == expected
