"""The ModelExport resource, and the parsing of manifests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, TypeVar

from pydantic import Field, ValidationError

from modelexport_api.base import ApiModel
from modelexport_api.documents import ManifestError, not_a_manifest, one_document
from modelexport_api.identity import absences, identity_of, mismatches
from modelexport_api.json_values import foreign_values
from modelexport_api.messages import problems_of
from modelexport_api.object_meta import FIELDS as OBJECT_META_FIELDS
from modelexport_api.object_meta import meta_problems
from modelexport_api.problem import Problem, lines_of
from modelexport_api.rules import violations
from modelexport_api.schema import Schema, structural
from modelexport_api.spec import ModelExportSpec
from modelexport_api.stored import as_stored

__all__ = [
    "ManifestError",
    "Metadata",
    "ModelExport",
    "format_errors",
    "one_document",
    "parse",
    "read",
    "schema_of",
]


class Metadata(ApiModel):
    """The part of ObjectMeta that an export depends on."""

    name: str = Field(min_length=1, max_length=253)
    namespace: str | None = None
    uid: str | None = None
    generation: int | None = None
    labels: dict[str, str] = Field(default_factory=dict)


class ModelExport(ApiModel):
    """A ModelExport without its status."""

    api_version: Literal["modelexport.dev/v1alpha1"]
    kind: Literal["ModelExport"]
    metadata: Metadata
    spec: ModelExportSpec


Resource = TypeVar("Resource", bound=ApiModel)


def parse(
    document: object, *, relative_uris: bool = False, text_as_values: bool = False
) -> ModelExport:
    """Return the ModelExport in a parsed YAML document or an object from the API server.

    `relative_uris`: messages name `file://./`, which only the command line understands.
    `text_as_values`: the text "8" is valid where a number is required, as from a label's value.
    Raises ManifestError with a line `field: error` for each error.
    """
    resource = read(
        document,
        ModelExport,
        Metadata,
        relative_uris=relative_uris,
        text_as_values=text_as_values,
    )
    found = violations(resource.spec)
    if found:
        raise ManifestError("\n".join(found))
    return resource


def read(
    document: object,
    kind: type[Resource],
    metadata_kind: type[ApiModel],
    *,
    relative_uris: bool = False,
    text_as_values: bool = False,
) -> Resource:
    """Return the resource in a document, checked by types only. Raises ManifestError."""
    if not isinstance(document, dict):
        raise not_a_manifest(document)
    identity = identity_of(kind)
    _raise_for(mismatches(document, identity))
    schema = schema_of(kind)
    manifest = {key: value for key, value in document.items() if key != "status"} | identity
    metadata = manifest.get("metadata")
    of_metadata = metadata if isinstance(metadata, dict) else {}
    if isinstance(metadata, dict):
        manifest["metadata"] = _relevant(metadata, metadata_kind)
    _raise_for(foreign_values({**manifest, "metadata": metadata}))
    found = [*absences(document, identity), *meta_problems(of_metadata)]
    try:
        resource = kind.model_validate_json(
            json.dumps(as_stored(manifest, schema)),
            strict=not text_as_values,
            by_alias=True,
            by_name=False,
        )
    except ValidationError as error:
        errors = error.errors(include_url=False)
        found += problems_of(errors, schema, relative=relative_uris)
    _raise_for(found)
    return resource


def _relevant(metadata: dict[object, object], kind: type[ApiModel]) -> dict[object, object]:
    """Return the fields that an export depends on, and unknown ones: they are misspelled.

    An object with a uid comes from an API server, which knows its fields better.
    """
    names = {field.alias or name for name, field in kind.model_fields.items()}
    ignored = set(metadata) if metadata.get("uid") else set(OBJECT_META_FIELDS)
    return {key: value for key, value in metadata.items() if key in names or key not in ignored}


@lru_cache
def schema_of(kind: type[ApiModel]) -> Schema:
    """Return the schema that the API server checks for a kind."""
    schema = structural(kind, defaults=False)
    fields = schema["properties"]["metadata"]["properties"]
    for name in OBJECT_META_FIELDS:
        fields.setdefault(name, {})
    return schema


def _raise_for(problems: Iterable[Problem]) -> None:
    lines = lines_of(problems)
    if lines:
        raise ManifestError(lines)


def format_errors(error: ValidationError, root: str = "") -> list[str]:
    """Return a line `field: error` for each error; `root` names the document itself."""
    return [
        f"{'.'.join(str(part) for part in item['loc']) or root}: {item['msg']}"
        for item in error.errors(include_url=False)
    ]
