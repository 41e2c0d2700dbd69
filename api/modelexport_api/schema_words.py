"""What a schema expects, in words, and a value that meets it: pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from modelexport_api.printable import excerpt
from modelexport_api.schema import Schema
from modelexport_api.text_forms import FORMS
from modelexport_api.types import URI_PATTERN
from modelexport_api.uri_forms import RELATIVE, forms

_FIELDS = 4
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "text"),
    (list, "a list"),
    (dict, "a mapping"),
    (type(None), "no value"),
)
_FILES = {"source": "model.pt", "destination": "onnx/"}
_SCALARS = {"string": "name", "number": 1.0, "boolean": True}
_EXAMPLES: dict[str, object] = {
    "metadata": {"name": "my-model"},
    "name": "x",
    "shape": [1, 3],
    "inputs": [{"name": "x", "shape": [1, 3]}],
    "max": 64,
    "min": 1,
    "type": "Complete",
    "path": ".status.phase",
    "value": "Succeeded",
    "key": "team",
}
"""By the name of the field; what is not here follows from its schema."""


def is_int_or_string(schema: Schema) -> bool:
    """Return whether a value is a number or a text."""
    return bool(schema.get("x-kubernetes-int-or-string"))


def expectation(schema: Schema, *, relative: bool) -> str:
    """Return what a schema expects: `a whole number from 0 to 100`."""
    if "enum" in schema:
        return f"one of {', '.join(str(value) for value in schema['enum'])}"
    if "pattern" in schema:
        return of_pattern(schema["pattern"], relative=relative)
    if schema.get("type") == "array":
        return _list(schema, relative=relative)
    words = _WORDS.get(str(schema.get("type")))
    return words(schema) if words is not None else "another value"


def of_pattern(pattern: str, *, relative: bool) -> str:
    """Return what a text of this pattern is."""
    if pattern == URI_PATTERN:
        return f"a URI: {forms(relative=relative)}"
    return FORMS[pattern].says


def _limits(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}" if high < 1e6 else f" from {low:g} to {high}"  # noqa: PLR2004
    if low is not None:
        return f" of at least {low:g}"
    return f" of at most {high}" if high is not None else ""


def _list(schema: Schema, *, relative: bool) -> str:
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    items = schema.get("items", {})
    of = {"object": "mappings", "string": "texts", "number": "numbers"}.get(items.get("type", ""))
    many = f"{low} " if low == high else ""
    size = f", at least {low}" if low and low != high else ""
    size += f", at most {high}" if high is not None and low != high else ""
    if of is None:
        return f"a list of {many}entries{size}, each {expectation(items, relative=relative)}"
    return f"a list of {many}{of}{size}"


def _mapping(schema: Schema) -> str:
    fields = list(schema.get("properties", {}))
    if not fields:
        return "a mapping of names to values"
    required = schema.get("required", [])
    if required:
        return f"a mapping with {', '.join(required)}"
    return f"a mapping with fields such as {', '.join(fields[:_FIELDS])}"


def kind_of(value: object) -> str:
    """Return the kind of a value: `text`, `a number`."""
    return next((words for kind, words in _KINDS if isinstance(value, kind)), "a value")


def shown(value: object) -> str:
    """Return a value as JSON, at most 80 characters of it."""
    return excerpt(json.dumps(value, ensure_ascii=False, default=str))


_WORDS: dict[str, Callable[[Schema], str]] = {
    "integer": lambda schema: "a whole number" + _limits(schema),
    "number": lambda schema: "a number" + _limits(schema),
    "boolean": lambda _: "true or false",
    "string": lambda _: "text",
    "object": _mapping,
}


def example(schema: Schema, name: str, *, relative: bool) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value that a field might have, for `write …`."""
    if name in _EXAMPLES:
        return _EXAMPLES[name]
    if name in _FILES and "uri" in schema.get("properties", {}):
        return {"uri": _uri(_FILES[name], relative=relative)}
    if schema.get("pattern") == URI_PATTERN:
        return _uri(_FILES["source"], relative=relative)
    kind = schema.get("type")
    if kind == "object":
        fields, required = schema.get("properties", {}), schema.get("required", [])
        return {key: example(fields[key], key, relative=relative) for key in required}
    if kind == "array":
        return [example(schema.get("items", {}), name.removesuffix("s"), relative=relative)]
    return schema.get("enum", [_SCALARS.get(str(kind), schema.get("minimum", 1))])[0]


def _uri(name: str, *, relative: bool) -> str:
    return f"{RELATIVE}{name}" if relative else f"s3://bucket/{name}"
