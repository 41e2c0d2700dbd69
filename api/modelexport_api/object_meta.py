"""Names and labels of objects: what the API server refuses, in its words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from modelexport_api.object_meta_types import type_problems
from modelexport_api.printable import excerpt
from modelexport_api.problem import Problem

FIELDS = (
    "name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences",
    "uid", "generation", "resourceVersion", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "managedFields", "selfLink",
)  # fmt: skip
"""Those of ObjectMeta."""

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = rf"({_QUALIFIED})?"
_MAX_NAME, _MAX_LABEL = 253, 63
_MAX_ANNOTATIONS = 256 * 1024

# The words of Kubernetes (apimachinery/pkg/util/validation), two spaces included.
_IS_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN}')"
)
_IS_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{_LABEL}')"
)
_IS_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
    f" or '12345', regex used for validation is '{_VALUE}')"
)
_IS_QUALIFIED = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED}')"
)


def meta_problems(metadata: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what the API server would refuse; fields of a wrong type are left to the types."""
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if isinstance(name, str) and name:
        for words in _name_problems(name):
            yield _invalid("name", name, words, f"write name: {_as_name(name)}")
    if isinstance(namespace, str) and namespace:
        for words in _namespace_problems(namespace):
            advice = f"write namespace: {_as_name(namespace, _MAX_LABEL).replace('.', '-')}"
            yield _invalid("namespace", namespace, words, advice)
    yield from type_problems(metadata)
    yield from _finalizers(metadata.get("finalizers"))
    yield from _labels(metadata.get("labels"))
    yield from _annotations(metadata.get("annotations"))


def _name_problems(name: str) -> Iterator[str]:
    if len(name) > _MAX_NAME:
        yield f"must be no more than {_MAX_NAME} characters"
    if not re.fullmatch(_SUBDOMAIN, name):
        yield _IS_SUBDOMAIN


def _namespace_problems(name: str) -> Iterator[str]:
    if len(name) > _MAX_LABEL:
        yield f"must be no more than {_MAX_LABEL} characters"
    if not re.fullmatch(_LABEL, name):
        yield _IS_LABEL


def _finalizers(finalizers: object) -> Iterator[Problem]:
    for entry in finalizers if isinstance(finalizers, list) else ():
        for words in _key_problems(entry) if isinstance(entry, str) else ():
            yield _invalid("finalizers", entry, words, "")


def _labels(labels: object) -> Iterator[Problem]:
    for key, value in labels.items() if isinstance(labels, dict) else ():
        for words in _key_problems(str(key)):
            yield _invalid("labels", str(key), words, "")
        if not isinstance(value, str):
            continue
        bare = re.sub(r"[^A-Za-z0-9_.-]+", "-", value)[:_MAX_LABEL].strip("-_.")
        advice = f"write {excerpt(key)}: {bare}"
        if len(value) > _MAX_LABEL:
            yield _invalid("labels", value, f"must be no more than {_MAX_LABEL} bytes", advice)
        if not re.fullmatch(_VALUE, value):
            yield _invalid("labels", value, _IS_VALUE, advice)


def _annotations(annotations: object) -> Iterator[Problem]:
    if annotations is not None and not isinstance(annotations, dict):
        yield Problem(
            ("metadata", "annotations"), f"found {excerpt(annotations)}", "a mapping of texts"
        )
        return
    for key, value in (annotations or {}).items():
        for words in _key_problems(str(key).lower()):
            yield _invalid("annotations", str(key), words, "")
        if not isinstance(value, str | None):
            place = ("metadata", "annotations", str(key))
            shown = excerpt(str(value).lower() if isinstance(value, bool) else value)
            advice = "" if isinstance(value, dict | list) else f'write {excerpt(key)}: "{shown}"'
            yield Problem(place, f"found {shown}", "text", advice)
    size = sum(len(f"{key}{value}".encode()) for key, value in (annotations or {}).items())
    if size > _MAX_ANNOTATIONS:
        problem = f"Too long: may not be more than {_MAX_ANNOTATIONS} bytes"
        yield Problem(("metadata", "annotations"), problem, advice=f"it has {size} bytes")


def _key_problems(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif "/" in prefix:
        yield (
            f"a valid label key must have at most one slash: {_IS_QUALIFIED} with an optional DNS "
            "subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )
    elif prefix and not re.fullmatch(_SUBDOMAIN, prefix):
        yield f"prefix part {_IS_SUBDOMAIN}"
    if not name:
        yield "name part must be non-empty"
    elif len(name) > _MAX_LABEL:
        yield f"name part must be no more than {_MAX_LABEL} bytes"
    elif not re.fullmatch(_QUALIFIED, name):
        yield _IS_QUALIFIED


def _invalid(field: str, value: str, words: str, advice: str) -> Problem:
    return Problem(
        ("metadata", field), f'Invalid value: "{excerpt(value)}": {words}', advice=advice
    )


def _as_name(name: str, length: int = _MAX_NAME) -> str:
    """Return a valid name that is like this one."""
    bare = re.sub(r"[^a-z0-9.-]+", "-", name.lower())
    parts = [part.strip("-") for part in bare.split(".")]
    return ".".join(part for part in parts if part)[:length].strip("-.") or "my-model"
