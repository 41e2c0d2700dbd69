"""ModelExports for trainings that complete: which are created, and what is reported."""

from __future__ import annotations

from typing import Any

import pytest

from bed.control_plane import ControlPlane
from cluster.operator.refusing import LABEL, refusing
from cluster.operator.replica import Operators, Replica
from cluster.operator.trainings import KINDS, Trainings, dated, install, now
from cluster.operator.world import SPEC, SUCCESS, World, eventually
from unit.operator.triggers.trainings import HARD_WON, SUCCEEDED, UNFINISHED

pytestmark = pytest.mark.control_plane
PYTORCH = KINDS["PyTorchJob"]
DONE = SUCCEEDED["PyTorchJob"]
SOURCE = {"kind": "PyTorchJob"}


@pytest.fixture(scope="module")
def kinds(control_plane: ControlPlane) -> None:
    install(control_plane, *(kind for name, kind in KINDS.items() if name != "Job"))


@pytest.fixture
def trainings(world: World, kinds: None) -> Trainings:
    return Trainings(world)


@pytest.mark.parametrize("kind", [name for name in KINDS if name != "Job"])
def test_only_successful_objects_are_exported(
    trainings: Trainings, operator: Replica, kind: str
) -> None:
    trainings.trigger("auto", {"kind": kind})
    trainings.ready("auto", "Watching")
    others = [status for name, _, status in UNFINISHED if name == kind and status]
    for number, status in enumerate(others):
        trainings.done(KINDS[kind], f"other-{number}", status)
    trainings.create(KINDS[kind], "train")
    for status in others:  # what a training may go through until it succeeds
        trainings.write(KINDS[kind], "train", status if "Failed" not in str(status) else {})
    trainings.world.custom.patch_namespaced_custom_object_status(
        *trainings._of(KINDS[kind]), "train", {"status": None}
    )
    for number, status in enumerate(s for name, _, s in HARD_WON if name == kind):
        trainings.done(KINDS[kind], f"hard-{number}", status)
    trainings.write(KINDS[kind], "train", dated(SUCCEEDED[kind], now()))
    trainings.wait_for("auto", *[f"hard-{n}" for n in range(_hard(kind))], "train")
    assert trainings.children("auto")[-1]["spec"]["source"]["uri"] == ("s3://models/train/model.pt")
    (owner,) = trainings.children("auto")[-1]["metadata"]["ownerReferences"]
    assert owner["uid"] == trainings.get("auto")["metadata"]["uid"]


def _hard(kind: str) -> int:
    return sum(name == kind for name, _, _ in HARD_WON)


def test_a_real_job_is_exported_and_the_job_of_the_export_is_not(
    trainings: Trainings, operator: Replica
) -> None:
    world = trainings.world
    trainings.trigger("auto", {"kind": "Job"})
    trainings.ready("auto", "Watching")
    security = {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "allowPrivilegeEscalation": False,
        "seccompProfile": {"type": "RuntimeDefault"},
        "capabilities": {"drop": ["ALL"]},
    }
    container = {"name": "exporter", "image": "trainer", "securityContext": security}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    body = {"metadata": {"name": "train"}, "spec": {"template": template}}
    world.batch.create_namespaced_job(world.namespace, body)

    def pod_of_training() -> str | None:
        found = world._raw(world.core.list_namespaced_pod, "batch.kubernetes.io/job-name=train")
        return found[0]["metadata"]["name"] if found else None

    pod = eventually(pod_of_training, "the training's pod")
    world.run_pod(pod)
    assert trainings.children("auto") == []
    world.end_pod(pod, 0)
    trainings.wait_for("auto", "train")
    export = trainings.children("auto")[0]["metadata"]["name"]
    pod = world.live_pod(export)
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for(export, "Complete")
    eventually(lambda: trainings.count("auto", "triggered") == 1, "it is recorded")
    job = world.job(export)
    eventually(lambda: world.job(export)["status"].get("completionTime"), "its Job is complete")
    trainings.change("auto", suspend=True)
    trainings.ready("auto", "Suspended")
    trainings.change("auto", suspend=False)  # lists everything again
    trainings.ready("auto", "Watching")
    assert trainings.sources("auto") == ["train"]
    assert job["metadata"]["labels"]["modelexport.dev/name"] == export


def test_new_only_ignores_earlier_completions_and_all_includes_them(
    trainings: Trainings, operator: Replica
) -> None:
    trainings.done(PYTORCH, "old", DONE, when=now(-60))
    trainings.trigger("new-only", SOURCE)
    trainings.trigger("all", SOURCE, startPolicy="All")
    trainings.wait_for("all", "old")
    trainings.ready("new-only", "Watching")
    trainings.done(PYTORCH, "new", DONE)
    trainings.wait_for("all", "new", "old")
    trainings.wait_for("new-only", "new")
    names = [c["metadata"]["name"] for t in ("all", "new-only") for c in trainings.children(t)]
    assert len(set(names)) == 3  # two triggers, two exports of one training


def test_labels_select(trainings: Trainings, operator: Replica) -> None:
    selector = {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a", "b"]}]}
    trainings.trigger("auto", {**SOURCE, "selector": selector})
    for name, team in (("first", "a"), ("second", "c"), ("third", "b")):
        trainings.create(PYTORCH, name, labels={"team": team})
        trainings.write(PYTORCH, name, dated(DONE, now()))
    trainings.wait_for("auto", "first", "third")


def test_a_selector_that_the_api_server_rejects_is_reported(
    trainings: Trainings, operator: Replica
) -> None:
    selector = {"matchExpressions": [{"key": "team/of/mine", "operator": "Exists"}]}
    trainings.trigger("auto", {**SOURCE, "selector": selector})
    assert "team/of/mine" in trainings.ready("auto", "SelectorInvalid")["message"]


def test_labels_of_the_template_are_copied_to_the_export(
    trainings: Trainings, operator: Replica
) -> None:
    template = {
        "metadata": {
            "labels": {"kueue.x-k8s.io/queue-name": "$(metadata.labels['queue'])"},
            "annotations": {"trained-by": "$(kind) $(metadata.namespace)/$(metadata.name)"},
        },
        "spec": SPEC,
    }
    trainings.trigger("auto", SOURCE, template=template)
    trainings.create(PYTORCH, "train", labels={"queue": "gpu"})
    trainings.write(PYTORCH, "train", dated(DONE, now()))
    trainings.wait_for("auto", "train")
    meta = trainings.children("auto")[0]["metadata"]
    assert meta["labels"]["kueue.x-k8s.io/queue-name"] == "gpu"
    assert meta["annotations"]["trained-by"] == f"PyTorchJob {trainings.world.namespace}/train"


def test_a_missing_value_is_reported_once_and_skipped(
    trainings: Trainings, operators: Operators
) -> None:
    first = operators.start()
    source = {"uri": "$(metadata.annotations['checkpoint'])"}
    trainings.trigger("auto", SOURCE, template={"spec": {**SPEC, "source": source}})
    trainings.ready("auto", "Watching")
    trainings.done(PYTORCH, "without", DONE)
    eventually(lambda: trainings.count("auto", "skipped"), "it is skipped")
    first.kill()
    operators.start()
    uri = {"checkpoint": "s3://models/with/m.pt"}
    trainings.create(PYTORCH, "with", annotations=uri)
    trainings.write(PYTORCH, "with", dated(DONE, now()))
    trainings.wait_for("auto", "with")
    eventually(lambda: trainings.count("auto", "triggered"), "it is recorded")
    assert trainings.count("auto", "skipped") == 1
    (event,) = [e for e in trainings.events("auto") if e["reason"] == "MissingValue"]
    assert event["type"] == "Warning"
    expression = "$(metadata.annotations['checkpoint'])"
    assert event["message"] == (
        f"PyTorchJob without: spec.template.spec.source.uri: {expression}: "
        "the object has no such field"
    )


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (
            {"spec": {**SPEC, "source": {"uri": "$(metadata.name)"}}},
            "the resulting ModelExport is invalid: spec.source.uri: found",
        ),
        (
            {"metadata": {"labels": {"by": "$(kind)/$(metadata.name)"}}, "spec": SPEC},
            "the resulting ModelExport is invalid: metadata.labels: Invalid value",
        ),
        (
            {"metadata": {"labels": {LABEL: "yes"}}, "spec": SPEC},
            "the API server rejected the ModelExport",
        ),
    ],
    ids=["by our rules", "by the server's own rules", "by the API server"],
)
def test_an_export_that_is_rejected_is_reported_and_not_retried(
    trainings: Trainings, operator: Replica, template: dict[str, Any], words: str
) -> None:
    with refusing(trainings.world.plane, trainings.world.namespace):
        trainings.trigger("auto", SOURCE, template=template)
        trainings.done(PYTORCH, "train", DONE)
        eventually(lambda: trainings.count("auto", "skipped") == 1, "it is skipped")
    (event,) = [e for e in trainings.events("auto") if e["reason"] == "InvalidExport"]
    assert words in event["message"]
    assert trainings.children("auto") == []
    assert 'modelexport_trigger_skipped_total{reason="InvalidExport"} 1' in operator.read(
        "/metrics"
    )


def test_an_invalid_template_is_reported_and_nothing_is_exported(
    trainings: Trainings, operator: Replica
) -> None:
    broken = {"spec": {**SPEC, "source": {"uri": "s3://models/$(metadata.name"}}}
    trainings.trigger("auto", SOURCE, template=broken)
    ready = trainings.ready("auto", "TemplateInvalid")
    assert ready["status"] == "False"
    assert ready["message"].startswith(
        "spec.template.spec.source.uri: $(metadata.name: expected ')'"
    )
    trainings.done(PYTORCH, "train", DONE)
    right = {"spec": {"source": {"uri": "s3://models/$(metadata.name)/m.pt"}}}
    trainings.change("auto", template=right)
    trainings.wait_for("auto", "train")
    assert trainings.ready("auto", "Watching")["status"] == "True"
    reasons = ["TemplateInvalid", "Triggered"]
    eventually(lambda: trainings.reasons("auto") == reasons, "error and export have Events")


def test_metrics(trainings: Trainings, operator: Replica) -> None:
    trainings.trigger("auto", SOURCE)
    trainings.done(PYTORCH, "train", DONE)
    trainings.wait_for("auto", "train")
    for line in (
        'modelexport_triggered_total{kind="PyTorchJob"} 1.0',
        'modelexport_triggers{reason="Watching"} 1.0',
    ):
        eventually(lambda line=line: line in operator.read("/metrics"), line)  # type: ignore[misc]
