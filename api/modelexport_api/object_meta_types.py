"""Types of ObjectMeta's fields that no export depends on: the API server refuses others. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from modelexport_api.printable import excerpt
from modelexport_api.problem import Problem

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_OWNER = ("apiVersion", "kind", "name", "uid")


def type_problems(metadata: Mapping[Any, Any]) -> Iterator[Problem]:
    """Yield each field whose value is of another type; no value is one of every type."""
    for name, (fits, expected) in _TYPES.items():
        value = metadata.get(name)
        if value is not None and not fits(value):
            advice = f"remove {name}: Kubernetes sets it" if name not in _OF_USERS else ""
            yield Problem(("metadata", name), f"found {excerpt(value)}", expected, advice)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _is_time(value: object) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _are_mappings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict | None) for entry in value)


def _are_owners(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and all(isinstance(entry.get(key), str) and entry[key] for key in _OWNER)
        for entry in value
    )


_OF_USERS = ("generateName", "finalizers", "ownerReferences")
_TYPES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "generateName": (_is_text, "text"),
    "finalizers": (_are_texts, "a list of texts"),
    "ownerReferences": (_are_owners, f"a list of mappings with {', '.join(_OWNER)}"),
    "uid": (_is_text, "text"),
    "resourceVersion": (_is_text, "text"),
    "selfLink": (_is_text, "text"),
    "generation": (_is_whole, "a whole number"),
    "deletionGracePeriodSeconds": (_is_whole, "a whole number"),
    "creationTimestamp": (_is_time, "a time such as 2026-05-01T12:00:00Z"),
    "deletionTimestamp": (_is_time, "a time such as 2026-05-01T12:00:00Z"),
    "managedFields": (_are_mappings, "a list of mappings"),
}
