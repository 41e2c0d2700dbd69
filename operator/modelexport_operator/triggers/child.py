"""Build the ModelExport for one completion: the manifest only, no requests.

Pure, so that `modelexport render` prints what the operator would create. The name is a function
of trigger and object: the API server answers 409 to a second creation. The owner is the trigger,
not the training, because the deletion of the training must not delete the export.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from modelexport_api import API_VERSION, KIND
from modelexport_api.printable import message
from modelexport_api.resource import ManifestError, parse
from modelexport_api.trigger import TRIGGER_KIND
from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_operator import names
from modelexport_operator.triggers import labels, ledger, template
from modelexport_operator.triggers.completion import Completion
from modelexport_operator.triggers.template import TemplateProblemError

MISSING_VALUE, INVALID_EXPORT = "MissingValue", "InvalidExport"


class ChildError(ValueError):
    """No ModelExport can be built for a completion; `reason` is one CamelCase word."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(message(text))
        self.reason = reason


def child_name(trigger_uid: str, source_name: str, source_uid: str, run: str = "") -> str:
    """Return the name: the object's, truncated, and a hash of both uids."""
    text = f"{trigger_uid}/{source_uid}/{run}"
    suffix = f"-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    return names.fit_name(source_name, suffix)


def build(
    trigger: ModelExportTrigger, body: Mapping[str, Any], found: Completion
) -> dict[str, Any]:
    """Return the ModelExport that the trigger creates for an object. Raises ChildError."""
    source, subject = body.get("metadata") or {}, describe_object(body)
    try:
        rendered = template.render(trigger.spec.template, body)
    except TemplateProblemError as error:
        raise ChildError(MISSING_VALUE, f"{subject}: {error}") from None
    name = child_name(
        trigger.metadata.uid or "", source.get("name", ""), source.get("uid", ""), found.run
    )
    manifest: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": name,
            **_namespace(trigger),
            "labels": {**rendered.labels, **_labels(trigger, source)},
            "annotations": {**rendered.annotations, **_annotations(body, found)},
            **_owner(trigger),
        },
        "spec": rendered.spec,
    }
    try:
        spec = parse(manifest, text_as_values=True).spec
    except ManifestError as error:
        lines = "; ".join(str(error).splitlines())
        raise ChildError(
            INVALID_EXPORT, f"{subject}: the resulting ModelExport is invalid: {lines}"
        ) from None
    # From the parsed types: a number in a label becomes a number if the field requires one.
    typed = spec.model_dump(by_alias=True, exclude_unset=True, exclude_none=True, mode="json")
    return {**manifest, "spec": typed}


def describe_object(body: Mapping[str, Any]) -> str:
    """Return kind and name of an object, for messages."""
    return f"{body.get('kind', 'object')} {(body.get('metadata') or {}).get('name', '')}"


def _namespace(trigger: ModelExportTrigger) -> dict[str, str]:
    return {"namespace": trigger.metadata.namespace} if trigger.metadata.namespace else {}


def _labels(trigger: ModelExportTrigger, source: Mapping[str, Any]) -> dict[str, str]:
    return {
        labels.TRIGGER_LABEL: names.fit_name(trigger.metadata.name),
        labels.TRIGGER_UID_LABEL: trigger.metadata.uid or "",
        labels.SOURCE_UID_LABEL: source.get("uid", ""),
    }


def _annotations(body: Mapping[str, Any], found: Completion) -> dict[str, str]:
    source = body.get("metadata") or {}
    return {
        labels.SOURCE_KIND_ANNOTATION: f"{body.get('apiVersion', '')} {body.get('kind', '')}",
        labels.SOURCE_NAME_ANNOTATION: source.get("name", ""),
        labels.COMPLETION_ANNOTATION: ledger.entry(source.get("uid", ""), found),
    }


def _owner(trigger: ModelExportTrigger) -> dict[str, Any]:
    if trigger.metadata.uid is None:  # rendered from a file, not from a cluster
        return {}
    owner = names.owner(TRIGGER_KIND, trigger.metadata.name, trigger.metadata.uid)
    return {"ownerReferences": [owner]}
