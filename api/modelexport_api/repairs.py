"""The value of the expected type that another one was meant as: pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from modelexport_api.schema import Schema
from modelexport_api.schema_words import example, is_int_or_string

_TRUE, _FALSE = {"true", "yes", "on", "y", "1"}, {"false", "no", "off", "n", "0"}
_PAIR = 2


def repaired(value: object, schema: Schema) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value to write instead; None if it cannot be known."""
    if "enum" in schema or is_int_or_string(schema):
        return None
    repair = _REPAIRS.get(str(schema.get("type")))
    return repair(value, schema) if repair else None


def _integer(value: object, _: Schema) -> int | None:
    text = value.strip().replace("_", "") if isinstance(value, str) else ""
    return int(text) if re.fullmatch(r"-?[0-9]{1,15}", text) else None


def _number(value: object, _: Schema) -> float | int | None:
    if not isinstance(value, str):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return int(found) if found.is_integer() and "." not in value and "e" not in value else found


def _boolean(value: object, _: Schema) -> bool | None:
    word = str(value).strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _text(value: object, _: Schema) -> str | None:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _list(value: object, schema: Schema) -> list[Any] | None:
    items = schema.get("items", {})
    fields = items.get("properties", {})
    if isinstance(value, dict):
        if "name" in fields and "name" not in value:
            return [
                {"name": key, **child} if isinstance(child, dict) else {"name": key}
                for key, child in value.items()
            ]
        if {"min", "max"} == set(value):
            return [value["min"], value["max"]]
        return [value] if fields else None
    if isinstance(value, str):
        parts = [part for part in re.split(r"[,\s]+", value.strip(" []()")) if part]
        typed = [
            int(part) if part.isdigit() and is_int_or_string(items) else part for part in parts
        ]
        return [{"name": part} for part in parts] if "name" in fields else typed
    return [value] if items.get("type") != "object" and value is not None else None


def _mapping(value: object, schema: Schema) -> dict[str, Any] | None:
    fields = schema.get("properties", {})
    if not fields:
        return _map(value, schema.get("additionalProperties") or {})
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return value[0]
    if _is_dim(schema):
        return _dim(value)
    main = next((name for name in ("uri", "factory") if name in fields), None)
    return {main: value} if main and isinstance(value, str) else None


def _dim(value: object) -> dict[str, Any] | None:
    """Return the sizes that `64`, `[1, 64]`, `1..64` and `1-64` say."""
    if isinstance(value, list):
        return {"min": value[0], "max": value[1]} if len(value) == _PAIR else None
    bounds = re.fullmatch(r"(?:(\d+) ?(?:\.\.|-|:|,) ?)?(\d+)", str(value))
    return {"min": int(bounds[1] or 1), "max": int(bounds[2])} if bounds else None


def _map(value: object, of: Schema) -> dict[str, Any] | None:
    """Return `{batch: {…}}` for a list of mappings with names, or of names."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return None
    found: dict[str, Any] = {}
    for entry in value:
        if isinstance(entry, str):
            found[entry] = _new_dim(of) if _is_dim(of) else None
        elif isinstance(entry, dict) and "name" in entry:
            rest = {k: v for k, v in entry.items() if k != "name"}
            found[str(entry["name"])] = {**(_new_dim(of) if _is_dim(of) else {}), **rest}
        elif isinstance(entry, dict):
            found.update({str(key): child for key, child in entry.items()})
    return found if found and None not in found.values() else None


def _new_dim(of: Schema) -> dict[str, Any]:
    return {"min": 1, **example(of, "", relative=False)}


def _is_dim(of: Schema) -> bool:
    return {"min", "max"} <= set(of.get("properties", {}))


_REPAIRS: dict[str, Callable[[Any, Schema], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "string": _text,
    "array": _list,
    "object": _mapping,
}
