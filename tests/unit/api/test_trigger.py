"""A trigger's manifest: what is accepted, what is rejected, and with which message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modelexport_api import crds
from modelexport_api.resource import ManifestError
from modelexport_api.schema import structural
from modelexport_api.spec import ModelExportSpec
from modelexport_api.trigger import ModelExportTriggerSpec, ModelExportTriggerStatus, StartPolicy
from modelexport_api.trigger_resource import parse_trigger
from modelexport_api.trigger_schema import allow_expressions
from unit.api.test_crds import APPLY_ANNOTATION_LIMIT, ROOT, properties
from unit.api.trigger_manifests import INVALID, TRIGGER, VALID


@pytest.mark.parametrize("manifest", [row[1] for row in VALID], ids=[row[0] for row in VALID])
def test_valid_triggers_are_accepted(manifest: dict[str, Any]) -> None:
    assert parse_trigger(manifest).metadata.name == "digits"


def test_defaults() -> None:
    spec = parse_trigger(TRIGGER).spec
    assert spec.start_policy is StartPolicy.NEW_ONLY
    assert (spec.suspend, spec.history_limits.successful) == (False, None)


@pytest.mark.parametrize(
    ("manifest", "field", "words"),
    [row[1:] for row in INVALID],
    ids=[row[0] for row in INVALID],
)
def test_a_violated_rule_is_reported_with_its_field(
    manifest: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_trigger(manifest)
    assert field in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("text", "not a YAML mapping"),
        ({**TRIGGER, "kind": "ModelExport"}, "kind: found ModelExport; expected"),
        (
            {**TRIGGER, "spec": {**TRIGGER["spec"], "suspended": True}},
            "spec.suspended: .* did you mean `suspend`",
        ),
    ],
    ids=["no mapping", "another kind", "unknown field"],
)
def test_documents_that_are_not_triggers_are_rejected(document: object, words: str) -> None:
    with pytest.raises(ManifestError, match=words):
        parse_trigger(document)


@pytest.mark.parametrize("directory", crds.DIRECTORIES)
def test_checked_in_file_matches_the_types(directory: str) -> None:
    path: Path = ROOT / directory / crds.TRIGGER_FILE_NAME
    assert path.read_text() == crds.render_trigger(), "run `make crds`"


def test_the_crd_fits_into_the_annotation_of_kubectl_apply() -> None:
    assert len(crds.render_trigger().encode()) < APPLY_ANNOTATION_LIMIT


@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_has_a_description(part: str) -> None:
    version = crds.model_export_trigger()["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]["properties"][part]
    assert [path for path, child in properties(schema) if not child.get("description")] == []
    model = ModelExportTriggerSpec if part == "spec" else ModelExportTriggerStatus
    assert set(schema["properties"]) == {field.alias for field in model.model_fields.values()}


def test_the_template_has_every_field_of_a_model_export_and_no_default() -> None:
    strict = structural(ModelExportSpec, defaults=True)
    loose = allow_expressions(strict)
    assert [path for path, _ in properties(loose)] == [path for path, _ in properties(strict)]
    assert not [path for path, child in properties(loose) if "default" in child]
