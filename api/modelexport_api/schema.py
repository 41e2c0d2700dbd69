"""Convert pydantic models to the structural schema of a CRD.

Kubernetes supports a subset of JSON Schema: no references, no `additionalProperties: false`, no
`propertyNames`, a type everywhere. This module rewrites pydantic's schema accordingly, and adds
nothing that is not in the models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from modelexport_api.base import ApiModel

Schema = dict[str, Any]

KEPT = (
    "type", "description", "enum", "pattern", "format", "default",
    "minimum", "maximum", "minLength", "maxLength",
    "minItems", "maxItems", "minProperties", "maxProperties", "required",
)  # fmt: skip


def structural(model: type[BaseModel], *, defaults: bool) -> Schema:
    """Return the structural schema of a model, with or without the defaults of its fields."""
    raw = model.model_json_schema(by_alias=True, mode="validation")
    schema = _rewrite(raw, raw.get("$defs", {}))
    if defaults:
        _add_defaults(schema, model)
    else:
        _drop(schema, "default")
    return schema


def at(schema: Schema, path: tuple[str, ...]) -> Schema:
    """Return the schema of the property at a path."""
    for name in path:
        schema = schema["properties"][name]
    return schema


def _rewrite(raw: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    raw = _resolve(raw, definitions)
    if "anyOf" in raw:
        return _int_or_string(raw, definitions)
    schema: Schema = {key: raw[key] for key in KEPT if key in raw}
    if "const" in raw:
        schema["enum"] = [raw["const"]]
    if "items" in raw:
        schema["items"] = _rewrite(raw["items"], definitions)
    if "properties" in raw:
        schema["properties"] = {
            name: _rewrite(value, definitions) for name, value in raw["properties"].items()
        }
    elif schema.get("type") == "object":
        # A pattern on keys becomes typed values; the pattern itself is a rule in `rules`.
        patterns = list(raw.get("patternProperties", {}).values())
        values = patterns[0] if patterns else raw.get("additionalProperties")
        _rewrite_map(schema, values, definitions)
    elif "type" not in schema and "enum" not in schema:
        schema["x-kubernetes-preserve-unknown-fields"] = True
        schema["nullable"] = True
        schema.pop("default", None)
    if schema.get("type") == "integer":
        schema["format"] = "int64"
    elif schema.get("type") == "number":
        schema["format"] = "double"
    return schema


def _rewrite_map(schema: Schema, values: object, definitions: Mapping[str, Any]) -> None:
    """Write a map with typed values, or a free-form object if values may be anything."""
    if isinstance(values, dict) and values:
        schema["additionalProperties"] = _rewrite(values, definitions)
    else:
        schema["x-kubernetes-preserve-unknown-fields"] = True


def _resolve(raw: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve a reference and the `X or null` of an optional field; the field's own keys win."""
    outer = {key: value for key, value in raw.items() if key not in {"$ref", "anyOf"}}
    if "$ref" in raw:
        inner = _resolve(definitions[raw["$ref"].rpartition("/")[2]], definitions)
        return {**inner, **outer}
    if "anyOf" in raw:
        choices = [choice for choice in raw["anyOf"] if choice.get("type") != "null"]
        if len(choices) == 1:
            outer = {key: value for key, value in outer.items() if value is not None}
            return {**_resolve(choices[0], definitions), **outer}
    return dict(raw)


def _int_or_string(raw: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """Write the only union that Kubernetes supports; each limit applies to its own type."""
    choices = [_rewrite(choice, definitions) for choice in raw["anyOf"]]
    types = sorted(choice["type"] for choice in choices)
    if types != ["integer", "string"]:
        msg = f"a CRD can express integer-or-string, not {types}"
        raise TypeError(msg)
    limits = {
        key: value
        for choice in choices
        for key, value in choice.items()
        if key not in {"type", "format"}
    }
    return {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        **limits,
    }


def _add_defaults(schema: Schema, model: type[BaseModel]) -> None:
    """Add the defaults of absent objects and lists, which pydantic omits."""
    for name, field in model.model_fields.items():
        target = schema["properties"][field.alias or name]
        nested = _model_of(field)
        if nested is not None:
            _add_defaults(target if "properties" in target else _element(target), nested)
        if field.default_factory is not None:
            value = field.get_default(call_default_factory=True)
            target["default"] = value.to_wire() if isinstance(value, ApiModel) else value


def _element(schema: Schema) -> Schema:
    element: Schema = schema["items"] if "items" in schema else schema["additionalProperties"]
    return element


def _model_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model in `M`, `M | None`, `list[M]` or `dict[str, M]`."""
    pending: list[Any] = [field.annotation]
    while pending:
        annotation = pending.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
        pending.extend(getattr(annotation, "__args__", ()))
    return None


def _drop(schema: Schema, key: str) -> None:
    schema.pop(key, None)
    for child in schema.get("properties", {}).values():
        _drop(child, key)
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            _drop(schema[inner], key)
