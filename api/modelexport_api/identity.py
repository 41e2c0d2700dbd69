"""Whether a document is of the expected kind and version: pure, in kubectl's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from modelexport_api import API_VERSION
from modelexport_api.base import ApiModel
from modelexport_api.printable import excerpt
from modelexport_api.problem import Problem

Document = Mapping[object, object]
_ADVICE = {
    "ModelExport": "`modelexport run` exports what a ModelExport describes",
    "ModelExportTrigger": "`modelexport render` prints what a ModelExportTrigger creates",
    "List": "write each of its items to a file of its own",
}
"""By the kind that was found instead."""


def identity_of(kind: type[ApiModel]) -> dict[str, str]:
    """Return the fields that identify a kind, as a manifest must have them."""
    (name,) = get_args(kind.model_fields["kind"].annotation)
    return {"apiVersion": API_VERSION, "kind": str(name)}


def mismatches(document: Document, expected: Mapping[str, str]) -> Iterator[Problem]:
    """Yield why a document is of another kind; nothing else can be said about it then."""
    for field, value in expected.items():
        if document.get(field) is not None and document[field] != value:
            yield _mismatch(document, field, value)


def absences(document: Document, expected: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the fields that are not set."""
    for field, value in expected.items():
        if document.get(field) is None:
            yield Problem((field,), f"{field} not set", value, f"write {field}: {value}")


def _mismatch(document: Document, field: str, wanted: str) -> Problem:
    kind, version = excerpt(document.get("kind")), excerpt(document.get("apiVersion"))
    if field == "kind" and kind in _ADVICE:
        return Problem((field,), f"found {kind}", wanted, _ADVICE[kind])
    problem = (
        f'found {excerpt(document[field])}: no matches for kind "{kind}" in version "{version}"'
    )
    return Problem((field,), problem, wanted, f"write {field}: {wanted}")
