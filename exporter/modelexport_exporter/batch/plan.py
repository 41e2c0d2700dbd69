"""plan.json: the checkpoints of a batch, listed once, each with its destination and share.

The first pod writes it, by a conditional write; all others read it. So objects that arrive in the
bucket later change nothing, and a restarted pod has the same share. A run without a uid is never a
restart, so it always lists again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal
from urllib.parse import unquote

from modelexport_api.base import ApiModel
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_exporter.batch.destinations import BATCHES, item_of, resolve_all, root_of
from modelexport_exporter.batch.listing import Listed, list_checkpoints
from modelexport_exporter.batch.shares import share_out
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.publish.publish import resource_key
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.store import ConditionFailedError, Location

PLAN_NAME = "plan.json"


class PlanItem(ApiModel):
    """A checkpoint of a batch."""

    index: int
    name: str
    """The short name: the URI without the common prefix of the batch."""
    uri: str
    destination: str
    share: int
    size_bytes: int
    etag: str | None = None
    """At the time of the listing; what is exported is the content at the time of the export."""


class Plan(ApiModel):
    """The content of plan.json."""

    plan_version: Literal[1] = 1
    shares: int
    items: list[PlanItem]

    def share(self, number: int) -> list[PlanItem]:
        """Return the checkpoints of one pod, in order."""
        return [item for item in self.items if item.share == number]


@dataclass(frozen=True)
class Planned:
    """A batch with its plan."""

    resource: ModelExport
    plan: Plan
    directory: Location
    """The directory of plan, journals and results."""

    def item(self, entry: PlanItem) -> ModelExport:
        """Return a checkpoint as an export of its own."""
        return item_of(self.resource, entry.uri, entry.destination)


def plan_of(resource: ModelExport, listed: list[Listed], shares: int) -> Plan:
    """Return the plan for listed checkpoints. Raises ExportFailure for invalid destinations."""
    uris = [entry.uri for entry in listed]
    destinations, names = resolve_all(resource.spec, uris), short_names(uris)
    chosen = share_out([entry.size_bytes for entry in listed], shares)
    return Plan(
        shares=shares,
        items=[
            PlanItem(
                index=index,
                name=names[index],
                uri=entry.uri,
                destination=destinations[index],
                share=chosen[index],
                size_bytes=entry.size_bytes,
                etag=entry.etag,
            )
            for index, entry in enumerate(listed)
        ],
    )


def short_names(uris: Sequence[str]) -> list[str]:
    """Return URIs without their common parent directories."""
    parts = [uri.rstrip("/").split("/") for uri in uris]
    parents = [names[:-1] for names in parts]
    same = takewhile(lambda pair: pair[0] == pair[1], zip(min(parents), max(parents), strict=False))
    depth = len(list(same))
    short = ["/".join(names[depth:]) for names in parts]
    return [
        unquote(name) if uri.startswith("file:") else name
        for uri, name in zip(uris, short, strict=True)
    ]


def directory_of(resource: ModelExport) -> Location:
    """Return the directory of plan, journals and results. Raises ExportFailure."""
    metadata, spec = resource.metadata, resource.spec
    key = resource_key(metadata.name, metadata.namespace, metadata.uid)
    root = root_of(spec.destination.uri)
    return Stores(spec).destination(f"{root}{BATCHES}/{key}/")


def make_plan(resource: ModelExport, shares: int) -> Planned:
    """Return the batch's plan: the existing one, or a new one. Raises ExportFailure."""
    directory = directory_of(resource)
    where = directory.child(PLAN_NAME)
    again = resource.metadata.uid is None
    found = None if again else _read(where)
    if found is None:
        listed = list_checkpoints(resource.spec)
        found = _write(where, plan_of(resource, listed, shares), again=again)
    return Planned(resource, found, directory)


def _write(where: Location, plan: Plan, *, again: bool) -> Plan:
    """Store the plan; return the one in force, which may be another pod's."""
    content = plan.model_dump_json(by_alias=True, exclude_none=True).encode()
    if again:
        where.store.write(where.key, content)
        return plan
    try:
        where.store.write_if(where.key, content, replaces=None)
    except ConditionFailedError:
        theirs = _read(where)
        if theirs is None:
            raise _unreadable(where) from None
        return theirs
    return plan


def _read(where: Location) -> Plan | None:
    answer = where.store.read(where.key)
    if answer is None:
        return None
    try:
        return Plan.model_validate_json(answer[0])
    except ValueError:
        raise _unreadable(where) from None


def _unreadable(where: Location) -> ExportFailure:
    return ExportFailure(
        Reason.DESTINATION_EXISTS,
        f"{where.uri} is not a plan of this version of ModelExport",
        "Another program wrote it. Delete it, and create the ModelExport again.",
    )
