from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from modelexport_api import crds
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import ModelExportStatus

ROOT = Path(__file__).resolve().parents[3]
APPLY_ANNOTATION_LIMIT = 256 * 1024


def properties(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, child in schema.get("properties", {}).items():
        yield f"{path}.{name}", child
        yield from properties(child, f"{path}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from properties(schema[inner], f"{path}[]")


def optional(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """The optional fields below a schema that have no fields themselves, and their descriptions."""
    for name, child in schema.get("properties", {}).items():
        if name not in schema.get("required", ()) and "properties" not in child:
            yield f"{path}.{name}", child["description"]
        yield from optional(child, f"{path}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from optional(schema[inner], f"{path}[]")


@pytest.fixture
def version() -> dict[str, Any]:
    found: dict[str, Any] = crds.model_export()["spec"]["versions"][0]
    return found


@pytest.mark.parametrize("directory", crds.DIRECTORIES)
def test_checked_in_file_matches_the_types(directory: str) -> None:
    text = (ROOT / directory / crds.FILE_NAME).read_text()
    assert text == crds.render(), "run `make crds`"


def test_the_crd_fits_into_the_annotation_of_kubectl_apply() -> None:
    assert len(crds.render().encode()) < APPLY_ANNOTATION_LIMIT


@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_has_a_description(version: dict[str, Any], part: str) -> None:
    schema = version["schema"]["openAPIV3Schema"]["properties"][part]
    silent = [path for path, child in properties(schema) if not child.get("description")]
    assert silent == []


@pytest.mark.parametrize("model", [ModelExportSpec, ModelExportStatus])
def test_the_schema_has_every_field_of_the_types(
    version: dict[str, Any], model: type[ModelExportSpec]
) -> None:
    part = "spec" if model is ModelExportSpec else "status"
    schema = version["schema"]["openAPIV3Schema"]["properties"][part]
    aliases = {field.alias for field in model.model_fields.values()}
    assert set(schema["properties"]) == aliases


def test_selectable_fields_exist(version: dict[str, Any]) -> None:
    schema = version["schema"]["openAPIV3Schema"]
    types = {path: child.get("type") for path, child in properties(schema)}
    assert [types[entry["jsonPath"]] for entry in version["selectableFields"]] == ["string"] * 2


def test_defaults_are_the_same_as_in_python(version: dict[str, Any]) -> None:
    """An object that the API server defaulted and one that pydantic defaulted are equal."""
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    minimal = {
        "source": {"uri": "s3://b/k"},
        "inputs": [{"name": "x", "shape": ["n"]}],
        "dims": {"n": {"max": 8}},
        "destination": {"uri": "s3://b/o/"},
    }
    defaulted = apply_defaults(spec, minimal)
    assert defaulted == ModelExportSpec.model_validate(minimal).to_wire()


def apply_defaults(schema: dict[str, Any], value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [apply_defaults(schema["items"], item) for item in value]
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for name, child in schema.get("properties", {}).items():
        if name not in filled and "default" in child:
            filled[name] = child["default"]
        if name in filled:
            filled[name] = apply_defaults(child, filled[name])
    if isinstance(schema.get("additionalProperties"), dict):
        filled = {k: apply_defaults(schema["additionalProperties"], v) for k, v in filled.items()}
    return filled


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (
            crds.model_export,
            {".export.opset": "20", ".suspend": "false", ".source.sha256": "none"},
        ),
        (
            crds.model_export_trigger,
            {
                ".startPolicy": "NewOnly",
                ".template.spec.export.opset": "20",
                ".template.spec.suspend": "false",
                ".template.spec.source.sha256": "none",
            },
        ),
    ],
    ids=["ModelExport", "ModelExportTrigger"],
)
def test_kubectl_explain_states_the_default_of_every_optional_field(
    definition: Callable[[], dict[str, Any]], expected: dict[str, str]
) -> None:
    schema = definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found = dict(optional(schema["properties"]["spec"]))
    for path, default in expected.items():
        assert found[path].endswith(f" Default: {default}.")
    silent = [path for path, text in found.items() if not re.search("Default: |not set", text)]
    assert silent == []
    assert not [path for path, text in found.items() if text.count("Default: ") > 1]


def test_no_category_is_the_name_of_a_resource() -> None:
    """kubectl reads the category in `get modelexport NAME` if there is one, and rejects NAME."""
    names = [crd["spec"]["names"] for crd in (crds.model_export(), crds.model_export_trigger())]
    taken = {
        word
        for entry in names
        for word in (entry["singular"], entry["plural"], *entry["shortNames"])
    }
    assert not taken & {category for entry in names for category in entry["categories"]}
