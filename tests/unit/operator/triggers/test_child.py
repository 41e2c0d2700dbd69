"""The ModelExport of a completion."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from modelexport_api.resource import parse
from modelexport_operator.triggers import labels
from modelexport_operator.triggers.child import ChildError, build, child_name
from modelexport_operator.triggers.completion import Completion
from unit.api.trigger_manifests import changed
from unit.operator.triggers.trainings import SUCCEEDED, training, trigger

BODY = training("Job", SUCCEEDED["Job"])
FOUND = Completion(datetime(2026, 5, 1, 12, tzinfo=UTC))


def built(path: str | None = None, value: object = None) -> dict[str, Any]:
    template = {"template": changed(path, value)["spec"]["template"]} if path else {}
    return build(trigger(**template), BODY, FOUND)


def test_the_manifest_is_a_model_export() -> None:
    manifest = built()
    export = parse(manifest)
    assert export.spec.source.uri == "s3://models/train-42/model.pt"
    assert manifest["metadata"]["namespace"] == "team"
    assert set(manifest["spec"]) == {"source", "model", "inputs", "dims", "destination"}


def test_labels_and_annotations_name_trigger_and_object() -> None:
    meta = built()["metadata"]
    assert meta["labels"] == {
        "kueue.x-k8s.io/queue-name": "gpu",
        labels.TRIGGER_LABEL: "digits",
        labels.TRIGGER_UID_LABEL: "uid-of-trigger",
        labels.SOURCE_UID_LABEL: "uid-of-train-42",
    }
    assert meta["annotations"][labels.SOURCE_KIND_ANNOTATION] == "batch/v1 Job"
    assert meta["annotations"][labels.SOURCE_NAME_ANNOTATION] == "train-42"
    assert meta["annotations"][labels.COMPLETION_ANNOTATION].startswith("2026-05-01T12:00:00Z ")


def test_the_trigger_owns_it_and_the_training_does_not() -> None:
    (owner,) = built()["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("ModelExportTrigger", "uid-of-trigger")
    assert owner["controller"] is True
    assert owner["blockOwnerDeletion"] is False


def test_the_name_is_a_function_of_trigger_object_and_run() -> None:
    name = child_name("t", "train", "s")
    assert name == child_name("t", "train", "s")
    assert name.startswith("train-")
    others = [child_name("u", "train", "s"), child_name("t", "train", "r")]
    assert len({name, *others, child_name("t", "train", "s", "run-2")}) == 4


@pytest.mark.parametrize("source", ["a" * 253, "a." * 100, "x" * 51 + "-.-" + "y" * 20])
def test_a_name_is_a_valid_label(source: str) -> None:
    name = child_name("t", source, "s")
    assert len(name) <= 63
    assert name[-12].isalnum()


def test_a_text_becomes_a_number_if_the_field_requires_one() -> None:
    manifest = changed("template.spec.backoffLimit", "$(metadata.annotations.retries)")
    body = training("Job", SUCCEEDED["Job"], annotations={"retries": "5"})
    template = manifest["spec"]["template"]
    assert build(trigger(template=template), body, FOUND)["spec"]["backoffLimit"] == 5


@pytest.mark.parametrize(
    ("path", "value", "reason", "words"),
    [
        (
            "template.spec.source",
            {"uri": "$(metadata.annotations.uri)"},
            "MissingValue",
            "Job train-42: spec.template.spec.source.uri: $(metadata.annotations.uri): the object",
        ),
        (
            "template.spec.source",
            {"uri": "$(metadata.name)"},
            "InvalidExport",
            "Job train-42: the resulting ModelExport is invalid: spec.source.uri: found",
        ),
        (
            "template.spec.parallelism",
            "$(spec.env[1].value)",
            "InvalidExport",
            "parallelism and maxFailed require a batch",
        ),
    ],
    ids=["no value", "an invalid value", "a violated rule"],
)
def test_invalid_exports_are_reported(path: str, value: object, reason: str, words: str) -> None:
    with pytest.raises(ChildError) as caught:
        built(path, value)
    assert caught.value.reason == reason
    assert words in str(caught.value)
