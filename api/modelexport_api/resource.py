"""The ModelExport resource, and the parsing of manifests."""

from __future__ import annotations

from typing import Literal, TypeVar

import yaml
from pydantic import Field, ValidationError

from modelexport_api.base import ApiModel
from modelexport_api.rules import violations
from modelexport_api.spec import ModelExportSpec


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


class ManifestError(ValueError):
    """An invalid manifest; the message has one line for each error."""


def parse(document: object) -> ModelExport:
    """Return the ModelExport in a parsed YAML document or an object from the API server.

    Raises ManifestError with a line `field: error` for each error.
    """
    resource = read(document, ModelExport, Metadata)
    found = violations(resource.spec)
    if found:
        raise ManifestError("\n".join(found))
    return resource


def read(document: object, kind: type[Resource], metadata_kind: type[ApiModel]) -> Resource:
    """Return the resource in a document, checked by types only. Raises ManifestError.

    Metadata fields that are not in `metadata_kind` are ignored: the API server adds many.
    """
    if not isinstance(document, dict):
        raise ManifestError("the manifest is not a YAML mapping with apiVersion, kind and spec")
    known = {key: document[key] for key in ("apiVersion", "kind", "spec") if key in document}
    metadata = document.get("metadata")
    if isinstance(metadata, dict):
        names = {field.alias or name for name, field in metadata_kind.model_fields.items()}
        metadata = {key: value for key, value in metadata.items() if key in names}
    try:
        return kind.model_validate({**known, "metadata": metadata})
    except ValidationError as error:
        raise ManifestError("\n".join(format_errors(error))) from None


def one_document(text: str, subject: str = "the manifest") -> object:
    """Return the one document in a YAML text, for `parse`. Raises ManifestError about `subject`."""
    try:
        documents = [document for document in yaml.safe_load_all(text) if document is not None]
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an invalid date
        raise ManifestError(f"{subject} is not YAML: {error}") from None
    except RecursionError:
        raise ManifestError(f"{subject} is nested too deeply") from None
    if len(documents) != 1:
        raise ManifestError(f"expected one ModelExport in {subject}, found {len(documents)}")
    document: object = documents[0]
    return document


def format_errors(error: ValidationError, root: str = "") -> list[str]:
    """Return a line `field: error` for each error; `root` names the document itself."""
    return [
        f"{'.'.join(str(part) for part in item['loc']) or root}: {item['msg']}"
        for item in error.errors(include_url=False)
    ]
