"""The schema of a trigger's template: a ModelExport's, loosened where an expression may stand.

Names of fields, literal values and what is required are checked at admission as for a ModelExport;
a value that holds an expression passes. Rules that cross fields and defaults are left to the
ModelExport that is created.
"""

from __future__ import annotations

from typing import Any

from modelexport_api.schema import Schema

HOLDS_EXPRESSION = r"\$\(.*\)"
"""Anywhere in a string."""
IS_EXPRESSION = r"^\$\(.*\)$"
"""A value that is nothing else."""

_KEPT = ("description", "minItems", "maxItems", "minProperties", "maxProperties", "required")
_LIMITS = ("enum", "pattern", "minLength", "maxLength")


def loosened(schema: Schema) -> Schema:
    """Return the schema for values that may hold expressions instead of being of their type."""
    if schema.get("x-kubernetes-int-or-string"):
        return _integer_or_string(schema)
    kind = schema.get("type")
    if kind == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        return _object(schema)
    if kind == "array":
        kept = {key: schema[key] for key in _KEPT if key in schema}
        return {"type": "array", **kept, "items": loosened(schema["items"])}
    return _SCALARS.get(str(kind), _free)(schema)


def _object(schema: Schema) -> Schema:
    found: Schema = {"type": "object", **{key: schema[key] for key in _KEPT if key in schema}}
    if "properties" in schema:
        found["properties"] = {k: loosened(v) for k, v in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        found["additionalProperties"] = loosened(schema["additionalProperties"])
    return found


def _string(schema: Schema) -> Schema:
    """Write what a literal must be as one side of an alternative."""
    limits = {key: schema[key] for key in _LIMITS if key in schema}
    found: Schema = {"type": "string", **_described(schema)}
    if limits:
        found["anyOf"] = [limits, {"pattern": HOLDS_EXPRESSION}]
    return found


def _integer(schema: Schema) -> Schema:
    """Write an integer or an expression; a limit is for numbers and a pattern for strings."""
    limits: Schema = {key: schema[key] for key in ("minimum", "maximum") if key in schema}
    return {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        **_described(schema),
        **limits,
        "pattern": IS_EXPRESSION,
    }


def _integer_or_string(schema: Schema) -> Schema:
    limits: dict[str, Any] = {k: schema[k] for k in _LIMITS if k in schema}
    kept = {k: v for k, v in schema.items() if k not in {"default", *_LIMITS}}
    if limits:
        kept["allOf"] = [{"anyOf": [limits, {"pattern": HOLDS_EXPRESSION}]}]
    return kept


def _anything(schema: Schema) -> Schema:
    """Write no type at all: Kubernetes knows no number-or-string and no boolean-or-string."""
    return {"x-kubernetes-preserve-unknown-fields": True, **_described(schema)}


def _described(schema: Schema) -> Schema:
    return {"description": schema["description"]} if "description" in schema else {}


def _free(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "default"}


_SCALARS = {"string": _string, "integer": _integer, "number": _anything, "boolean": _anything}
