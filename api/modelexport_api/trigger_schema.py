"""The schema of a trigger's template: a ModelExport's, with expressions allowed as values.

Names of fields, literal values and what is required are checked at admission as for a ModelExport;
a value with an expression is accepted. Cross-field rules and defaults apply when the ModelExport
is created.
"""

from __future__ import annotations

from typing import Any

from modelexport_api.schema import Schema

HOLDS_EXPRESSION = r"\$\(.*\)"
"""Anywhere in a string."""
IS_EXPRESSION = r"^\$\(.*\)$"
"""The whole string."""

_KEPT = ("description", "minItems", "maxItems", "minProperties", "maxProperties", "required")
_LIMITS = ("enum", "pattern", "minLength", "maxLength")


def allow_expressions(schema: Schema) -> Schema:
    """Return the schema with an expression allowed in place of each value."""
    if schema.get("x-kubernetes-int-or-string"):
        return _integer_or_string(schema)
    kind = schema.get("type")
    if kind == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        return _object(schema)
    if kind == "array":
        kept = {key: schema[key] for key in _KEPT if key in schema}
        return {"type": "array", **kept, "items": allow_expressions(schema["items"])}
    return _SCALARS.get(str(kind), _free)(schema)


def _object(schema: Schema) -> Schema:
    found: Schema = {"type": "object", **{key: schema[key] for key in _KEPT if key in schema}}
    if "properties" in schema:
        found["properties"] = {k: allow_expressions(v) for k, v in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        found["additionalProperties"] = allow_expressions(schema["additionalProperties"])
    return found


def _string(schema: Schema) -> Schema:
    """Return the limits of a literal as one alternative, an expression as the other."""
    limits = {key: schema[key] for key in _LIMITS if key in schema}
    found: Schema = {"type": "string", **_description(schema)}
    if limits:
        found["anyOf"] = [limits, {"pattern": HOLDS_EXPRESSION}]
    return found


def _integer(schema: Schema) -> Schema:
    """Return integer-or-expression; limits apply to numbers, the pattern to strings."""
    limits: Schema = {key: schema[key] for key in ("minimum", "maximum") if key in schema}
    return {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        **_description(schema),
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
    """Return a schema without a type: CRDs have no number-or-string and no boolean-or-string."""
    return {"x-kubernetes-preserve-unknown-fields": True, **_description(schema)}


def _description(schema: Schema) -> Schema:
    return {"description": schema["description"]} if "description" in schema else {}


def _free(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "default"}


_SCALARS = {"string": _string, "integer": _integer, "number": _anything, "boolean": _anything}
