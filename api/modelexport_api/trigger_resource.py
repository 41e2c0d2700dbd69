"""The ModelExportTrigger resource as a whole, and how a manifest becomes one."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, ValidationError

from modelexport_api.base import ApiModel
from modelexport_api.resource import ManifestError
from modelexport_api.trigger import ModelExportTriggerSpec
from modelexport_api.trigger_rules import violations


class TriggerMetadata(ApiModel):
    """The part of ObjectMeta that a trigger depends on."""

    name: str = Field(min_length=1, max_length=253)
    namespace: str | None = None
    uid: str | None = None
    generation: int | None = None
    creation_timestamp: datetime | None = None


class ModelExportTrigger(ApiModel):
    """A ModelExportTrigger without its status."""

    api_version: Literal["modelexport.dev/v1alpha1"]
    kind: Literal["ModelExportTrigger"]
    metadata: TriggerMetadata
    spec: ModelExportTriggerSpec


_META = {"name", "namespace", "uid", "generation", "creationTimestamp"}


def parse_trigger(document: object) -> ModelExportTrigger:
    """Return the trigger in a parsed YAML document or an object from the API server.

    Raises ManifestError with `field: what is wrong` lines when it is none.
    """
    if not isinstance(document, dict):
        raise ManifestError("the manifest is not a YAML mapping with apiVersion, kind and spec")
    known = {key: document[key] for key in ("apiVersion", "kind", "spec") if key in document}
    metadata = document.get("metadata")
    if isinstance(metadata, dict):
        metadata = {key: value for key, value in metadata.items() if key in _META}
    try:
        trigger = ModelExportTrigger.model_validate({**known, "metadata": metadata})
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors(include_url=False)
        ]
        raise ManifestError("\n".join(lines)) from None
    broken = violations(trigger.spec)
    if broken:
        raise ManifestError("\n".join(broken))
    return trigger
