from __future__ import annotations

from datetime import date
from typing import Any

import pytest
import yaml

from modelexport_api.resource import ManifestError, one_document, parse
from unit.api.manifests import ACCEPTED, INVALID, VALID, X, changed


def test_valid_manifest_is_parsed_with_defaults() -> None:
    resource = parse(VALID)
    assert resource.metadata.name == "digits"
    assert resource.spec.dims["batch"].max == 64
    assert resource.spec.export.opset == 20
    assert resource.spec.inputs[0].shape == ["batch", 1, 8, 8]


@pytest.mark.parametrize(
    ("manifest", "field", "words"),
    [row[1:] for row in INVALID],
    ids=[row[0] for row in INVALID],
)
def test_invalid_manifest_names_field_and_rule(
    manifest: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(manifest)
    line = str(caught.value).splitlines()[0]
    assert line.startswith(field)
    assert words in line


def test_fields_that_the_api_server_adds_are_ignored() -> None:
    server_side = {
        **VALID,
        "metadata": {"name": "digits", "uid": "u", "generation": 1, "managedFields": []},
        "status": {"phase": "Running"},
    }
    assert parse(server_side).metadata.uid == "u"


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"k": value}
    return value


def kwargs(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any YAML value
    return changed(model={"factory": "model:build", "kwargs": values})


# Values that YAML can represent, but not JSON and so not the API server.
NOT_JSON = [
    (
        "endless range",
        changed(inputs=[{**X, "range": [0, float("inf")]}]),
        "spec.inputs[0].range[1]",
    ),
    ("NaN in a range", changed(inputs=[{**X, "range": [float("nan"), 1]}]), "spec.inputs[0].range"),
    (
        "endless tolerance",
        changed(verification={"tolerance": {"atol": float("inf")}}),
        "spec.verification.tolerance.atol",
    ),
    ("a date", kwargs(since=date(2026, 1, 1)), "spec.model.kwargs"),
    ("binary data", kwargs(salt=b"\xff"), "spec.model.kwargs"),
    ("NaN as an argument", kwargs(fill=float("nan")), "spec.model.kwargs"),
    ("deep nesting", kwargs(deep=nested(5000)), "spec.model.kwargs"),
    ("deep nesting in a template", changed(podTemplate=nested(300)), "spec.podTemplate"),
    (
        "a deadline beyond the range of clocks",
        changed(activeDeadlineSeconds=10**11),
        "spec.activeDead",
    ),
]


@pytest.mark.parametrize(
    ("manifest", "field"), [row[1:] for row in NOT_JSON], ids=[row[0] for row in NOT_JSON]
)
def test_values_without_a_json_form_are_rejected(manifest: dict[str, Any], field: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(manifest)
    assert str(caught.value).startswith(field)


def test_the_deepest_accepted_value_can_be_serialized() -> None:
    assert parse(kwargs(deep=nested(60))).to_wire()["spec"]["model"]["kwargs"]["deep"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spec: [unclosed", "not YAML"),
        ("spec: [1, 2", "line 1, column"),
        ("spec: " + "[" * 5000, "nested too deeply"),
        ("- a list", "not a YAML mapping"),
        ("", "found 0"),
        (yaml.safe_dump_all([VALID, VALID]), "found 2"),
    ],
)
def test_documents_that_are_not_manifests_are_rejected(text: str, words: str) -> None:
    with pytest.raises(ManifestError, match=words):
        parse(one_document(text))


@pytest.mark.parametrize("manifest", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_manifests_are_valid(manifest: dict[str, Any]) -> None:
    assert parse(manifest).spec.to_wire()["source"].items() >= manifest["spec"]["source"].items()
