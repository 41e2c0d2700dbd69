"""One export per completion, whatever is killed, deleted or delayed."""

from __future__ import annotations

import time

import pytest

from bed.control_plane import ControlPlane
from cluster.operator.replica import USER, Operators, Replica
from cluster.operator.test_triggers import DONE, PYTORCH, SOURCE, kinds, trainings
from cluster.operator.trainings import (
    CUSTOM,
    SECRET,
    Trainings,
    dated,
    install,
    now,
    source_of,
    unlike,
)
from cluster.operator.world import SPEC, eventually
from modelexport_operator.triggers.kinds import WatchedKind

__all__ = ["kinds", "trainings"]
pytestmark = pytest.mark.control_plane


def test_completions_while_the_operator_is_down_are_exported(
    trainings: Trainings, operators: Operators
) -> None:
    first = operators.start()
    trainings.trigger("auto", SOURCE)
    trainings.ready("auto", "Watching")
    trainings.create(PYTORCH, "train")
    first.kill()
    trainings.write(PYTORCH, "train", dated(DONE, now()))
    trainings.trigger("later", SOURCE)  # not observed yet when the next one completes
    trainings.done(PYTORCH, "second", DONE, when=now(1))
    operators.start()
    trainings.wait_for("auto", "second", "train")
    eventually(lambda: "second" in trainings.sources("later"), "the second trigger works, too")


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.15, 0.4])
def test_an_operator_killed_in_between_exports_each_completion_once(
    trainings: Trainings, operators: Operators, seconds: float
) -> None:
    first = operators.start()
    trainings.trigger("auto", SOURCE)
    trainings.ready("auto", "Watching")
    names = [f"train-{number:02d}" for number in range(12)]
    for name in names:
        trainings.done(PYTORCH, name, DONE)
    time.sleep(seconds)
    first.kill()
    operators.start()
    trainings.wait_for("auto", *names)
    eventually(lambda: trainings.count("auto", "triggered") == 12, "all are recorded")
    eventually(lambda: trainings.reasons("auto") == ["Triggered"] * 12, "each has one Event")
    assert trainings.count("auto", "skipped") == 0


@pytest.mark.nightly
def test_hundreds_of_existing_completions_are_exported_across_a_restart(
    trainings: Trainings, operators: Operators
) -> None:
    names = [f"train-{number:03d}" for number in range(300)]
    for number, name in enumerate(names):
        trainings.done(PYTORCH, name, DONE, when=now(-7200 + number))
    first = operators.start()
    template = {"spec": {**SPEC, "suspend": True}}  # this test needs the exports, not their Jobs
    trainings.trigger("auto", SOURCE, startPolicy="All", template=template)
    eventually(lambda: len(trainings.sources("auto")) > 100, "some are exported", 60)
    first.kill()
    second = operators.start()
    trainings.wait_for("auto", *names, seconds=90)
    eventually(lambda: trainings.count("auto", "triggered") == 300, "all are recorded")
    trainings.ready("auto", "Watching")
    assert second.memory() < 150 * 2**20
    # None is more than an hour older than the youngest, so that the ledger keeps each.
    assert len(trainings.get("auto")["status"]["processed"]) == 300


def test_a_deleted_export_is_not_created_again(trainings: Trainings, operators: Operators) -> None:
    first = operators.start()
    trainings.trigger("auto", SOURCE)
    trainings.done(PYTORCH, "train", DONE)
    eventually(lambda: trainings.count("auto", "triggered") == 1, "it is recorded")
    trainings.world.delete(trainings.children("auto")[0]["metadata"]["name"])
    first.kill()
    second = operators.start()
    eventually(second.leads, "the operator leads")
    trainings.done(PYTORCH, "second", DONE)
    trainings.wait_for("auto", "second")
    trainings.change("auto", startPolicy="All")  # lists everything again
    trainings.ready("auto", "Watching")
    assert trainings.sources("auto") == ["second"]
    assert trainings.count("auto", "triggered") == 2


def test_a_training_deleted_the_moment_it_completes_is_exported(
    trainings: Trainings, operator: Replica
) -> None:
    trainings.trigger("auto", SOURCE)
    trainings.ready("auto", "Watching")
    trainings.create(PYTORCH, "train")
    trainings.write(PYTORCH, "train", dated(DONE, now()))
    trainings.delete(PYTORCH, "train")
    trainings.wait_for("auto", "train")


def test_a_training_deleted_while_exports_cannot_be_created_is_exported_afterwards(
    trainings: Trainings, operator: Replica
) -> None:
    world = trainings.world
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {COUNTED: "0"}}}
    world.core.create_namespaced_resource_quota(world.namespace, quota)
    eventually(
        lambda: world.core.read_namespaced_resource_quota("none", world.namespace).status.hard,
        "the quota is in force",
    )
    trainings.trigger("auto", SOURCE)
    trainings.done(PYTORCH, "train", DONE)
    ready = trainings.ready("auto", "CreationRefused")
    assert "exceeded quota" in ready["message"]
    trainings.delete(PYTORCH, "train")
    world.core.delete_namespaced_resource_quota("none", world.namespace)
    trainings.wait_for("auto", "train", seconds=60)
    trainings.ready("auto", "Watching")


COUNTED = "count/modelexports.modelexport.dev"


def test_a_resumed_trigger_exports_what_still_exists(
    trainings: Trainings, operator: Replica
) -> None:
    trainings.trigger("auto", SOURCE, suspend=True)
    assert trainings.ready("auto", "Suspended")["status"] == "True"
    trainings.done(PYTORCH, "train", DONE)
    # It may be created in the second after the completion: it exports that only with "All".
    trainings.trigger("other", SOURCE, startPolicy="All")
    trainings.wait_for("other", "train")  # by now the operator has observed it
    assert trainings.children("auto") == []
    trainings.change("auto", suspend=False)
    trainings.wait_for("auto", "train")
    eventually(
        lambda: trainings.reasons("auto") == ["Triggered"], "there is one Event, and no warning"
    )


def test_history_limits_delete_the_oldest_and_none_is_created_again(
    trainings: Trainings, operators: Operators
) -> None:
    first = operators.start()
    names = ["a", "b", "c", "d", "e"]
    trainings.trigger("auto", SOURCE, historyLimits={"successful": 1, "failed": 0})
    for name in names:
        trainings.done(PYTORCH, name, DONE)
    trainings.wait_for("auto", *names)
    by_name = {source_of(child): child for child in trainings.children("auto")}
    foreign = trainings.world.create("foreign")  # labelled like a child, without an owner
    trainings.world.patch("foreign", {"metadata": {"labels": by_name["a"]["metadata"]["labels"]}})
    trainings.finish(foreign, now(-60))
    for second, name in enumerate(["a", "b", "c"]):
        trainings.finish(by_name[name], now(second))
    trainings.finish(by_name["d"], now(), "Failed")
    eventually(
        lambda: trainings.sources("auto") == ["c", "e"], "the newest and the unfinished stay"
    )
    first.kill()
    second_life = operators.start()
    eventually(second_life.leads, "the operator leads")
    trainings.done(PYTORCH, "f", DONE)
    eventually(lambda: "f" in trainings.sources("auto"), "the next one is exported")
    assert trainings.sources("auto") == ["c", "e", "f"]
    assert trainings.world.export("foreign")
    eventually(lambda: trainings.count("auto", "triggered") == 6, "it is recorded")


def test_a_kind_that_is_installed_later_is_watched(
    trainings: Trainings, operators: Operators, control_plane: ControlPlane
) -> None:
    kind = WatchedKind(api_version=f"{unlike()}/v1", kind="Training", resource="trainings")
    _allow(control_plane, kind)
    operators.start(triggers={"custom": [kind.to_wire()]})
    success = {"field": {"path": ".status.phase", "value": "Done"}}
    source = {"kind": kind.kind, "apiVersion": kind.api_version, "success": success}
    trainings.trigger("auto", source)
    ready = trainings.ready("auto", "KindNotInstalled")
    assert f"the cluster has no trainings of {kind.api_version}" in ready["message"]
    install(control_plane, kind)
    trainings.ready("auto", "Watching", seconds=60)
    trainings.done(kind, "running", {"phase": "Running"})
    trainings.done(kind, "train", {"phase": "Done"})
    trainings.wait_for("auto", "train")


def test_a_kind_without_permission_is_reported_and_blocks_no_other_trigger(
    trainings: Trainings, operators: Operators, control_plane: ControlPlane
) -> None:
    install(control_plane, SECRET)
    first = operators.start(triggers={"custom": [SECRET.to_wire()]})
    success = {"condition": {"type": "Done"}}
    source = {"kind": SECRET.kind, "apiVersion": SECRET.api_version, "success": success}
    trainings.trigger("secret", source)
    other = {"kind": CUSTOM.kind, "apiVersion": CUSTOM.api_version, "success": success}
    trainings.trigger("not-enabled", other)
    trainings.trigger("auto", SOURCE)
    ready = trainings.ready("secret", "Forbidden")
    assert "no permission to watch trainings of secret.example.com/v1" in ready["message"]
    ready = trainings.ready("not-enabled", "KindNotEnabled")
    assert "Training of example.com/v1" in ready["message"]
    trainings.done(PYTORCH, "train", DONE)
    trainings.wait_for("auto", "train")
    assert first.healthy()
    assert trainings.reasons("secret") == ["Forbidden"]


def test_exports_of_a_deleted_trigger_are_deleted_and_others_are_kept(
    trainings: Trainings, operator: Replica
) -> None:
    for name in ("auto", "other"):
        trainings.trigger(name, SOURCE)
    trainings.done(PYTORCH, "train", DONE)
    trainings.wait_for("auto", "train")
    trainings.world.custom.delete_namespaced_custom_object(
        "modelexport.dev", "v1alpha1", trainings.world.namespace, "modelexporttriggers", "auto"
    )
    eventually(lambda: trainings.children("auto") == [], "its exports are collected")
    trainings.done(PYTORCH, "second", DONE)
    trainings.wait_for("other", "second", "train")
    assert trainings.children("auto") == []


def _allow(plane: ControlPlane, kind: WatchedKind) -> None:
    group = "rbac.authorization.k8s.io"
    name = f"watch-{kind.group}"
    rule = {"apiGroups": [kind.group], "resources": [kind.resource], "verbs": ["list", "watch"]}
    meta = {"apiVersion": f"{group}/v1", "metadata": {"name": name}}
    plane.apply(
        {**meta, "kind": "ClusterRole", "rules": [rule]},
        {
            **meta,
            "kind": "ClusterRoleBinding",
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": USER}],
        },
    )
