"""The ModelExportTrigger resource, and the parsing of manifests."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.resource import ManifestError, read
from modelexport_api.trigger import ModelExportTriggerSpec
from modelexport_api.trigger_rules import violations


class TriggerMetadata(ApiModel):
    """The part of ObjectMeta that a trigger depends on."""

    name: str = Field(min_length=1, max_length=253)
    namespace: str | None = None
    uid: str | None = None
    generation: int | None = None
    creation_timestamp: datetime | None = None
    labels: dict[str, str] = Field(default_factory=dict)


class ModelExportTrigger(ApiModel):
    """A ModelExportTrigger without its status."""

    api_version: Literal["modelexport.dev/v1alpha1"]
    kind: Literal["ModelExportTrigger"]
    metadata: TriggerMetadata
    spec: ModelExportTriggerSpec


def parse_trigger(document: object) -> ModelExportTrigger:
    """Return the trigger in a parsed YAML document or an object from the API server.

    Raises ManifestError with a line `field: error` for each error.
    """
    trigger = read(document, ModelExportTrigger, TriggerMetadata)
    found = violations(trigger.spec)
    if found:
        raise ManifestError("\n".join(found))
    return trigger
