"""Values at and beyond each limit of the schema: lengths, numbers, patterns, choices. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

from chaos.manifests.trees import Place, Tree, at, put
from modelexport_api.resource import ModelExport, schema_of
from modelexport_api.schema import Schema
from modelexport_api.trigger_resource import ModelExportTrigger

_ENTRY = "*"
"""An entry of a list."""
_KEY = "+"
"""A key of a map."""


@lru_cache(2)
def _fields(kind: type[ModelExport] | type[ModelExportTrigger]) -> tuple[tuple[Place, Schema], ...]:
    return tuple(_below(schema_of(kind)["properties"]["spec"], ("spec",)))


def _below(schema: Schema, place: Place) -> Iterator[tuple[Place, Schema]]:
    yield place, schema
    for name, child in schema.get("properties", {}).items():
        yield from _below(child, (*place, name))
    if isinstance(schema.get("items"), dict):
        yield from _below(schema["items"], (*place, _ENTRY))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _below(schema["additionalProperties"], (*place, _KEY))


def beyond_limits(draw: Random, tree: Tree) -> tuple[Tree, Place]:
    """Put a value at or beyond a limit where the schema has one."""
    kind = ModelExportTrigger if tree.get("kind") == "ModelExportTrigger" else ModelExport
    fields = _fields(kind)
    place, schema = draw.choice([one for one in fields if len(one[0]) > 1])
    where = tuple(_resolved(draw, tree, place))
    return put(tree, where, draw.choice([*_values(schema)])), where


def _resolved(draw: Random, tree: Tree, place: Place) -> Iterator[str | int]:
    """Yield the keys of a place in this tree: an entry and a key that it has, if it has any."""
    for part in place:
        if part in {_ENTRY, _KEY}:
            known: list[str | int] = []
            if isinstance(tree, list):
                known = [*range(len(tree))]
            elif isinstance(tree, dict):
                known = [*tree]
            part = draw.choice(known) if known else "a"  # noqa: PLW2901
        yield part
        try:
            tree = at(tree, (part,))
        except (KeyError, IndexError, TypeError):
            tree = None


def _values(schema: Schema) -> Iterator[Any]:
    for one in schema.get("enum", ()):
        yield from (one, f"{one} ", str(one).lower())
    if "pattern" in schema:
        yield from ("a:b", "a.b:c.d", "a", "a\n", "s3://b/k\n", "file:///a\n", "0" * 64, "a" * 63)
    for bound in ("minimum", "maximum"):
        if bound in schema:
            yield from (schema[bound], schema[bound] - 1, schema[bound] + 1, float(schema[bound]))
    yield from _of_type(schema, str(schema.get("type")))
    yield None


def _of_type(schema: Schema, kind: str) -> Iterator[Any]:
    if kind == "string" or "maxLength" in schema:
        longest = schema.get("maxLength", 40)
        for letter in ("a", "é", "\U0001f600"):
            yield from (letter * longest, letter * (longest + 1))
        yield from ("s3://b/" + "k" * (longest - 7), "")
    elif kind == "array":
        longest = schema.get("maxItems", 8)
        yield from ([], ["a"] * longest, [f"a{n}" for n in range(longest + 1)], [[]], [None])
    elif kind == "object":
        longest = schema.get("maxProperties", 8)
        yield from ({}, {f"a{n}": {"max": 4} for n in range(longest + 1)}, {"a b": 1}, {"a": None})
    elif kind == "boolean":
        yield from (True, False, "yes", 1)
