"""The first checkpoint of a batch, for `modelexport diagnose`, which examines one model."""

from __future__ import annotations

from modelexport_api.resource import ModelExport
from modelexport_exporter.batch.destinations import item_of
from modelexport_exporter.batch.listing import list_checkpoints
from modelexport_exporter.core.log import Log


def first_checkpoint(resource: ModelExport, log: Log) -> ModelExport:
    """Return an export of the batch's first checkpoint. Raises ExportFailure."""
    if not resource.spec.source.is_batch:
        return resource
    listed = list_checkpoints(resource.spec)
    uri = listed[0].uri
    log.log("info", f"batch of {len(listed)} checkpoints: diagnosing the first, {uri}")
    return item_of(resource, uri, resource.spec.destination.uri)
