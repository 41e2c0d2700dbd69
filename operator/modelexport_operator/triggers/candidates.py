"""Completions that wait to be dealt with, oldest first.

They are kept until they are recorded, so that what was deleted meanwhile is not lost when a
request fails. Compressed: a trigger with startPolicy All may find thousands at once.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from modelexport_api.trigger import ModelExportTriggerStatus, StartPolicy
from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_api.trigger_rules import version_of
from modelexport_operator.triggers import ledger, selection
from modelexport_operator.triggers.completion import Completion, completion


@dataclass(frozen=True)
class Candidate:
    """A completion, and the object as it was seen last."""

    entry: str
    success: Completion
    packed: bytes

    @property
    def key(self) -> str:
        """Return what tells completions apart, whatever time an object tells today."""
        return self.entry.partition(" ")[2]

    @property
    def body(self) -> dict[str, Any]:
        """Return the object."""
        body: dict[str, Any] = json.loads(zlib.decompress(self.packed))
        return body


def candidate(
    trigger: ModelExportTrigger, status: ModelExportTriggerStatus, body: Mapping[str, Any]
) -> Candidate | None:
    """Return the completion that an object tells of, if it is to be dealt with."""
    found = completion(trigger.spec.source, body)
    if found is None or not counts(trigger, found.when):
        return None
    entry = ledger.entry(body["metadata"]["uid"], found)
    if ledger.is_done(status, entry):
        return None
    meta = {key: value for key, value in body["metadata"].items() if key != "managedFields"}
    text = json.dumps({**body, "metadata": meta}, separators=(",", ":"))
    return Candidate(entry, found, zlib.compress(text.encode()))


def is_wanted(
    trigger: ModelExportTrigger, status: ModelExportTriggerStatus, waiting: Candidate
) -> bool:
    """Tell whether a completion that waits is to be dealt with, as the trigger is now."""
    if ledger.is_done(status, waiting.entry):
        return False
    source, body = trigger.spec.source, waiting.body
    return (
        (body.get("apiVersion"), body.get("kind")) == (version_of(source), source.kind)
        and selection.selects(source, body["metadata"].get("labels") or {})
        and counts(trigger, waiting.success.when)
    )


def counts(trigger: ModelExportTrigger, when: datetime) -> bool:
    """Tell whether a completion at that time counts; the second of the creation does."""
    if trigger.spec.start_policy is StartPolicy.ALL:
        return True
    created = trigger.metadata.creation_timestamp
    return created is None or when >= created
