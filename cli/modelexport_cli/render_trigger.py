"""The ModelExport that a trigger would create for a finished object.

If the operator would not create it now (for example because the object has not succeeded, or its
labels do not match), the reason is printed to stderr, and the ModelExport is printed all the same.
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
from modelexport_api.yaml_text import load_all
from modelexport_cli.manifest_file import read_text


def export_of(document: object, finished: Path | None) -> dict[str, Any]:
    """Return the ModelExport for the object in a file. Raises ManifestError."""
    from modelexport_operator.triggers import child, ready
    from modelexport_operator.triggers.completion import Completion, find_completion

    trigger = parse_trigger(document)
    broken = ready.problems(trigger)
    if broken:
        raise ManifestError("\n".join(broken))
    body = _object(trigger, finished)
    success = find_completion(trigger.spec.source, body)
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
            "the trigger is valid, but what it creates depends on the finished object: pass one "
            f"with --for (kubectl get {source.kind.lower()} NAME -o yaml | modelexport render … "
            "--for -)"
        )
    body = _only_document(read_text(finished), finished)
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        raise ManifestError(f"{finished} is not a Kubernetes object: it has no metadata")
    wanted = (version_of(source), source.kind)
    found = (body.get("apiVersion"), body.get("kind"))
    if found != wanted:
        raise ManifestError(
            f"{finished} has kind {found[1]} of {found[0]}, but the trigger's source is "
            f"{wanted[1]} of {wanted[0]}"
        )
    return body


def _only_document(text: str, finished: Path) -> Any:  # noqa: ANN401 - JSON
    """Return the document in a file as JSON has it. Raises ManifestError."""
    try:
        documents = load_all(text)
        if len(documents) > 1:
            raise ManifestError(f"{finished} holds {len(documents)} documents; expected one object")
        return json.loads(json.dumps(documents[0] if documents else None))
    except RecursionError:
        raise ManifestError(f"{finished} is nested too deeply") from None
    except (yaml.YAMLError, TypeError) as error:
        raise ManifestError(f"{finished} is not YAML: {error}") from None


def _notes(
    trigger: ModelExportTrigger, body: dict[str, Any], when: datetime | None
) -> Iterator[str]:
    """Yield why the operator would not create it now."""
    from modelexport_operator.triggers import candidates, selection

    meta = body["metadata"]
    if when is None:
        yield "the object has not succeeded; this is created when it does"
    elif not candidates.is_in_scope(trigger, when):
        yield "startPolicy is NewOnly, and the object completed before the trigger was created"
    if not selection.selects(trigger.spec.source, meta.get("labels") or {}):
        yield "the trigger's selector does not select the object"
    if trigger.metadata.namespace not in {None, meta.get("namespace")}:
        yield f"the object is not in the trigger's namespace, {trigger.metadata.namespace}"
    if trigger.spec.suspend:
        yield "the trigger is suspended"
    if trigger.metadata.uid is None:
        yield "the trigger was not read from a cluster; the suffix of the name will be different"
