"""What the API server stores for a document: pure.

It drops null where a field is not nullable, and takes 64.0 for the integer 64.
"""

from __future__ import annotations

from modelexport_api.schema import Schema


def as_stored(value: object, schema: Schema) -> object:
    """Return a value as the API server stores it; unknown fields are kept, to be reported."""
    if isinstance(value, dict):
        found = {}
        for key, child in value.items():
            of_child = child_schema(schema, key)
            if child is not None or of_child is None or of_child.get("nullable"):
                found[key] = child if of_child is None else as_stored(child, of_child)
        return found
    if isinstance(value, list) and "items" in schema:
        return [as_stored(child, schema["items"]) for child in value]
    if isinstance(value, float) and value.is_integer() and _takes_integers(schema):
        return int(value)
    return value


def child_schema(schema: Schema, key: object) -> Schema | None:
    """Return the schema of a field or of a map's value; None if anything is allowed or unknown."""
    fields: dict[object, Schema] = schema.get("properties", {})
    return fields.get(key, schema.get("additionalProperties"))


def _takes_integers(schema: Schema) -> bool:
    return schema.get("type") == "integer" or bool(schema.get("x-kubernetes-int-or-string"))
