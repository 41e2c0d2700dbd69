"""plan.json: the listing of a batch, taken once, with everybody's destination and share.

Whichever pod comes first writes it, by a conditional write; all others read it. So what arrives in
the bucket later changes nothing, and a pod that is started again does the share that it had.
A run without a uid is nobody's second attempt, so that it always looks anew.
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
    """What to call it in a sentence: its URI without what all of the batch begin with."""
    uri: str
    destination: str
    share: int
    size_bytes: int
    etag: str | None = None
    """What was seen when the listing was taken; what is exported is what is there then."""


class Plan(ApiModel):
    """The content of plan.json."""

    plan_version: Literal[1] = 1
    shares: int
    items: list[PlanItem]

    def share(self, number: int) -> list[PlanItem]:
        """Return what one pod has to do, in order."""
        return [item for item in self.items if item.share == number]


@dataclass(frozen=True)
class Planned:
    """A batch whose checkpoints are known."""

    resource: ModelExport
    plan: Plan
    directory: Location
    """Where plan, journals and results lie."""

    def item(self, entry: PlanItem) -> ModelExport:
        """Return a checkpoint as an export of its own."""
        return item_of(self.resource, entry.uri, entry.destination)


def plan_of(resource: ModelExport, listed: list[Listed], shares: int) -> Plan:
    """Return the plan of what was listed. Raises ExportFailure for destinations that cannot be."""
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
    """Return URIs without the directories that all of them begin with."""
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
    """Return where the batch keeps its plan, journals and results. Raises ExportFailure."""
    metadata, spec = resource.metadata, resource.spec
    key = resource_key(metadata.name, metadata.namespace, metadata.uid)
    root = root_of(spec.destination.uri)
    return Stores(spec).destination(f"{root}{BATCHES}/{key}/")


def make_plan(resource: ModelExport, shares: int) -> Planned:
    """Return the batch's plan: the one that is there, or a new one. Raises ExportFailure."""
    directory = directory_of(resource)
    where = directory.child(PLAN_NAME)
    again = resource.metadata.uid is None
    found = None if again else _read(where)
    if found is None:
        listed = list_checkpoints(resource.spec)
        found = _write(where, plan_of(resource, listed, shares), again=again)
    return Planned(resource, found, directory)


def _write(where: Location, plan: Plan, *, again: bool) -> Plan:
    """Store the plan; return the one that is in force, which may be another pod's."""
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
        f"{where.uri} is no plan of this version of ModelExport",
        "Somebody else wrote it. Delete it, and create the ModelExport again.",
    )
