"""The first checkpoint of a batch, for what looks at one model only: `modelexport diagnose`."""

from __future__ import annotations

from modelexport_api.resource import ModelExport
from modelexport_exporter.batch.destinations import item_of
from modelexport_exporter.batch.listing import list_checkpoints
from modelexport_exporter.core.log import Log


def first_of(resource: ModelExport, log: Log) -> ModelExport:
    """Return an export of one checkpoint: of the batch's first. Raises ExportFailure."""
    if not resource.spec.source.is_batch:
        return resource
    listed = list_checkpoints(resource.spec)
    uri = listed[0].uri
    log.log("info", f"a batch of {len(listed)} checkpoints: this is about the first, {uri}")
    return item_of(resource, uri, resource.spec.destination.uri)
