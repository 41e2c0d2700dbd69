"""The default of a field in its description: `kubectl explain` does not print the schema's default.

A description that states what happens if the field is not set is complete. Objects state the
defaults of their own fields.
"""

from __future__ import annotations

import json

from modelexport_api.schema import Schema

DEFAULT = " Default: "


def add_default_texts(schema: Schema) -> None:
    """Add the default to the description of every optional field below a schema."""
    for name, field in (schema.get("properties") or {}).items():
        if name not in schema.get("required", ()):
            field["description"] = field.get("description", "") + default_text(field)
        add_default_texts(field)
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            add_default_texts(schema[inner])


def default_text(field: Schema) -> str:
    """Return the sentence about the default of an optional field, or nothing."""
    default = field.get("default")
    if "not set" in field.get("description", "") or default == "" or "properties" in field:
        return ""
    if default in (None, [], {}):
        return f"{DEFAULT}none."
    return f"{DEFAULT}{default if isinstance(default, str) else json.dumps(default)}."
