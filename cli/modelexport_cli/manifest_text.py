"""A manifest as YAML for people: comments beside the values that were inferred; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

_FLOW = {"shape", "range", "outputs"}
"""Lists that stand in one line."""
_COLUMN = 44
"""Where comments begin, if the value leaves room."""


def manifest_text(document: Mapping[str, Any], comments: Mapping[str, str], head: str) -> str:
    """Return YAML that parses to the document. `comments`: by path in the spec, `inputs[0].shape`.

    `head`: the comment at the top.
    """
    lines = [f"# {line}" for line in head.splitlines()]
    lines += _mapping(document, "", "", comments)
    return "\n".join(lines) + "\n"


def _mapping(
    value: Mapping[str, Any], indent: str, path: str, comments: Mapping[str, str]
) -> Iterator[str]:
    for key, item in value.items():
        inner = f"{path}.{key}" if path else key
        yield from _entry(f"{indent}{_scalar(key)}:", key, item, indent, inner, comments)


def _entry(
    head: str,
    key: str,
    item: Any,
    indent: str,
    path: str,
    comments: Mapping[str, str],  # noqa: ANN401
) -> Iterator[str]:
    comment = comments.get(path.removeprefix("spec."), "")
    if isinstance(item, Mapping) and item and not _is_dim(item):
        yield _commented(head, comment)
        yield from _mapping(item, f"{indent}  ", path, comments)
    elif isinstance(item, list) and item and key not in _FLOW:
        yield _commented(head, comment)
        for place, element in enumerate(item):
            yield from _element(element, f"{indent}  ", f"{path}[{place}]", comments)
    else:
        yield _commented(f"{head} {_flow(item)}", comment)


def _element(
    element: Any,
    indent: str,
    path: str,
    comments: Mapping[str, str],  # noqa: ANN401
) -> Iterator[str]:
    if not isinstance(element, Mapping) or not element:
        yield _commented(f"{indent}- {_flow(element)}", comments.get(path, ""))
        return
    lines = list(_mapping(element, f"{indent}  ", path, comments))
    yield f"{indent}- {lines[0].lstrip()}"
    yield from lines[1:]


def _is_dim(item: Mapping[str, Any]) -> bool:
    return set(item) <= {"min", "max"}


def _commented(line: str, comment: str) -> str:
    return f"{line:<{_COLUMN}}  # {comment}" if comment else line


def _flow(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_scalar(key)}: {_flow(item)}" for key, item in value.items())
        return "{" + inner + "}"
    return _scalar(value)


def _scalar(value: Any) -> str:  # noqa: ANN401
    """Return a scalar as YAML writes it: quoted where it would mean something else."""
    if not isinstance(value, str):
        return json.dumps(value)
    plain = value.isprintable() and not any(sign in value for sign in "[]{},#'\"")
    try:
        plain = plain and yaml.safe_load(value) == value and ": " not in value
    except yaml.YAMLError:
        plain = False
    return value if plain else json.dumps(value)
