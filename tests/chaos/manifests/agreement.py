"""Whether product and API server say the same about a file, and where they may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.manifests.server import CREATED, Reply
from chaos.manifests.valid import is_trigger
from modelexport_api.resource import ManifestError, ModelExport, one_document, parse
from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from modelexport_cli.cluster.manifest import prepare
from modelexport_cli.manifest_file import read_text
from modelexport_operator.triggers import ready


@dataclass(frozen=True)
class Said:
    """What the product says to a file that is meant for a cluster."""

    resource: ModelExport | ModelExportTrigger | None
    message: str = ""


@dataclass(frozen=True)
class Difference:
    """A class of files about which both may differ, by the words of who refuses them."""

    words: tuple[str, ...]
    why: str
    by_operator: bool = False
    """Whether the operator refuses the object that was stored."""


STRICTER: Sequence[Difference] = (
    Difference(("is not UTF-8 text",), "files are UTF-8; the API server's YAML also reads UTF-16"),
    Difference(("binary data",), "!!binary is refused; the API server stores its bytes as text"),
    Difference(("a constructor for the tag", " node, but found ", "written as"), "tags of YAML"),
    Difference(("found a tab;",), "a tab before the colon of a key is refused"),
    Difference(
        ("spec.template.spec",),
        "rules between fields of a trigger's template, which the operator checks",
        by_operator=True,
    ),
    Difference(
        ("found 2 documents",), "one manifest a file; the API server reads the first of two"
    ),
    Difference(("levels of nesting",), "free values have 64 levels at most, a manifest 96", True),
)
"""Refused by the product only. The operator still has to give each such object a condition."""
WIDER: Sequence[Difference] = (
    Difference(("cannot unmarshal bool",), "y and n are names here; kubectl reads booleans"),
)
"""Accepted by the product only."""


def said(path: Path) -> Said:
    """Return what `submit` and `render` say to a file."""
    try:
        document = one_document(read_text(path), str(path))
        if is_trigger(document):
            trigger = parse_trigger(document)
            return Said(trigger, "\n".join(ready.problems(trigger)))
        body = dict(prepare(document, None).body)
        metadata = {"name": "any", **body["metadata"]}
        return Said(parse({**body, "metadata": metadata}))
    except ManifestError as error:
        return Said(None, str(error))


def compare(here: Said, there: Reply) -> str:
    """Return how both differ: a sentence; nothing where they agree, `= why` where they may."""
    accepted = here.resource is not None and not here.message
    if accepted and there.accepted:
        return _stored(here.resource, there)
    if accepted:
        return _why(WIDER, there.message) or f"accepted here only: {there.message[-300:]}"
    if there.accepted:
        return _why(STRICTER, here.message) or f"refused here only: {here.message[:300]}"
    return ""


def is_for_operator(difference: str) -> bool:
    """Return whether the operator has to refuse what the API server stored."""
    return any(one.by_operator and difference == f"= {one.why}" for one in STRICTER)


def _why(classes: Sequence[Difference], message: str) -> str:
    for one in classes:
        if any(words in message for words in one.words):
            return f"= {one.why}"
    return ""


def _stored(resource: ModelExport | ModelExportTrigger | None, there: Reply) -> str:
    if there.status != CREATED or resource is None:
        return ""
    ours, theirs = _without_nulls(resource.spec.to_wire()), _without_nulls(there.body["spec"])
    if ours == theirs:
        return ""
    keys = [key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)]
    shown = {key: (ours.get(key), theirs.get(key)) for key in keys}
    return f"stored otherwise: {str(shown)[:300]}"


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a value without the fields that are null, which mean the same as none here."""
    if isinstance(value, dict):
        return {key: _without_nulls(child) for key, child in value.items() if child is not None}
    return [_without_nulls(child) for child in value] if isinstance(value, list) else value
