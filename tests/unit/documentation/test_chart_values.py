"""The page of the chart's values: what it takes from values.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from documentation.chart_values import VALUES, Value, described

TEXT = """
# Not about a value.
one:
  # -- First line,
  # second line.
  a: 1

  # -- Whole.
  b: {c: 2}
# -- Last.
two: []
"""


def test_a_comment_describes_the_value_below_it() -> None:
    assert list(described(TEXT)) == [
        Value("one.a", "First line, second line.", 1),
        Value("one.b", "Whole.", {"c": 2}),
        Value("two", "Last.", []),
    ]


def test_a_value_without_a_comment_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"one\.b has no comment"):
        list(described("one:\n  # -- A.\n  a: 1\n  b: 2\n"))


def test_the_schema_describes_exactly_the_values() -> None:
    """helm refuses a value that the schema lacks; one that only the schema has does nothing."""
    values = yaml.safe_load(VALUES.read_text())
    schema = json.loads(VALUES.with_name("values.schema.json").read_text())
    known = set(_known(schema, schema, ()))
    expected = {path for path in known if path != ("global",) and path[-1] != "claims"}
    missing = [path for path in _paths(values, ()) if not _covered(path, expected)]
    absent = [path for path in expected if not _has(values, path)]
    assert (missing, absent) == ([], [])


def _paths(values: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
    if isinstance(values, dict) and values:
        for key, inner in values.items():
            yield from _paths(inner, (*path, key))
    else:
        yield path


def _known(
    schema: dict[str, Any], root: dict[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    name = schema.get("$ref", "").removeprefix("#/definitions/")
    if name:
        schema = root["definitions"][name]
    properties = schema.get("properties")
    if not properties:
        yield path
    for key, inner in (properties or {}).items():
        yield from _known(inner, root, (*path, key))


def _covered(path: tuple[str, ...], known: set[tuple[str, ...]]) -> bool:
    return any(path[: len(one)] == one or one[: len(path)] == path for one in known)


def _has(values: Any, path: tuple[str, ...]) -> bool:  # noqa: ANN401
    for key in path:
        if values in ({}, []):
            return True
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
