"""The ModelExport that a trigger would create for a finished object.

What keeps the operator from creating it now (the object has not succeeded, its labels are others)
is said on stderr: whoever writes a trigger wants to see the export all the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from modelexport_api.resource import ManifestError
from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from modelexport_api.trigger_rules import version_of
from modelexport_cli.manifest_file import read_text


def export_of(document: object, finished: Path | None) -> dict[str, Any]:
    """Return the ModelExport for the object in a file. Raises ManifestError."""
    from modelexport_operator.triggers import child, ready
    from modelexport_operator.triggers.completion import Completion, completion

    trigger = parse_trigger(document)
    broken = ready.problems(trigger)
    if broken:
        raise ManifestError("\n".join(broken))
    body = _object(trigger, finished)
    success = completion(trigger.spec.source, body)
    for note in _notes(trigger, body, success.when if success else None):
        print(f"note: {note}", file=sys.stderr)
    try:
        return child.build(trigger, body, success or Completion(datetime.now(UTC)))
    except child.ChildError as error:
        raise ManifestError(str(error)) from None


def _object(trigger: ModelExportTrigger, finished: Path | None) -> dict[str, Any]:
    source = trigger.spec.source
    if finished is None:
        raise ManifestError(
            "nothing is wrong with the trigger as far as that is certain; what it creates depends "
            f"on the object that has finished: name one with --for (kubectl get "
            f"{source.kind.lower()} NAME -o yaml | modelexport render … --for -)"
        )
    try:
        # As from the API server, where times are text.
        body = json.loads(json.dumps(yaml.safe_load(read_text(finished)), default=str))
    except (yaml.YAMLError, ValueError) as error:
        raise ManifestError(f"{finished} is not YAML: {error}") from None
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        raise ManifestError(f"{finished} is no Kubernetes object: expected kind and metadata")
    wanted = (version_of(source), source.kind)
    found = (body.get("apiVersion"), body.get("kind"))
    if found != wanted:
        raise ManifestError(
            f"{finished} is a {found[1]} of {found[0]}; the trigger's source is a {wanted[1]} of "
            f"{wanted[0]}"
        )
    return body


def _notes(
    trigger: ModelExportTrigger, body: dict[str, Any], when: datetime | None
) -> Iterator[str]:
    """Yield why the operator would not create it now."""
    from modelexport_operator.triggers import candidates, selection

    meta = body["metadata"]
    if when is None:
        yield "the object has not succeeded; its completion would create this"
    elif not candidates.counts(trigger, when):
        yield "startPolicy is NewOnly, and the object completed before the trigger was created"
    if not selection.selects(trigger.spec.source, meta.get("labels") or {}):
        yield "the trigger's selector does not select the object"
    if trigger.metadata.namespace not in {None, meta.get("namespace")}:
        yield f"the object is not in the trigger's namespace, {trigger.metadata.namespace}"
    if trigger.spec.suspend:
        yield "the trigger is suspended"
    if trigger.metadata.uid is None:
        yield "the trigger is in no cluster yet; the name will end in other digits"
