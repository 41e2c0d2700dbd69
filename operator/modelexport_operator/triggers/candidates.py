"""Completions that are not processed yet, oldest first.

They are kept until they are in the ledger, so that an object that is deleted in the meantime is
not lost if a request fails. They are compressed, because a trigger with startPolicy All may find
thousands at once.
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
from modelexport_operator.triggers.completion import Completion, find_completion


@dataclass(frozen=True)
class Candidate:
    """A completion, and the last observed version of its object."""

    entry: str
    success: Completion
    packed: bytes

    @property
    def key(self) -> str:
        """Return the digest of the completion, which does not depend on its time."""
        return self.entry.partition(" ")[2]

    @property
    def body(self) -> dict[str, Any]:
        """Return the object."""
        body: dict[str, Any] = json.loads(zlib.decompress(self.packed))
        return body


def candidate(
    trigger: ModelExportTrigger, status: ModelExportTriggerStatus, body: Mapping[str, Any]
) -> Candidate | None:
    """Return the completion of an object, if it must be processed."""
    found = find_completion(trigger.spec.source, body)
    if found is None or not is_in_scope(trigger, found.when):
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
    """Return whether the current version of the trigger still selects a completion."""
    if ledger.is_done(status, waiting.entry):
        return False
    source, body = trigger.spec.source, waiting.body
    return (
        (body.get("apiVersion"), body.get("kind")) == (version_of(source), source.kind)
        and selection.selects(source, body["metadata"].get("labels") or {})
        and is_in_scope(trigger, waiting.success.when)
    )


def is_in_scope(trigger: ModelExportTrigger, when: datetime) -> bool:
    """Return whether startPolicy includes a completion at this time."""
    if trigger.spec.start_policy is StartPolicy.ALL:
        return True
    created = trigger.metadata.creation_timestamp
    return created is None or when >= created
