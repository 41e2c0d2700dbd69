"""The template of a trigger: rendered for a finished object, and checked without one.

The check reports only problems that do not depend on the object: expressions with syntax errors,
unknown or missing fields, literals of the wrong type, and violated rules between fields without
expressions.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import ValidationError

from modelexport_api.messages import problems_of
from modelexport_api.problem import Place, field_of
from modelexport_api.resource import ModelExport, schema_of
from modelexport_api.rule import Rule, find_violations
from modelexport_api.rules import RULES
from modelexport_api.spec import ModelExportSpec
from modelexport_api.stored import as_stored
from modelexport_api.trigger import Template
from modelexport_operator.triggers import expressions
from modelexport_operator.triggers.expressions import MissingValueError, SyntaxProblemError

Value = TypeVar("Value")
_CERTAIN = {"extra_forbidden", "missing"}


class TemplateProblemError(ValueError):
    """An expression without a value; the message names its field."""


@dataclass(frozen=True)
class Rendered:
    """A template with its expressions replaced."""

    labels: dict[str, str]
    annotations: dict[str, str]
    spec: object


def render(template: Template, body: object) -> Rendered:
    """Render the template for a finished object. Raises TemplateProblemError."""

    def render_texts(values: dict[str, str], name: str) -> dict[str, str]:
        place = ("metadata", name)
        return {
            key: _render_at(expressions.render_text, text, (*place, key), body)
            for key, text in values.items()
        }

    def value(text: str, place: Place) -> object:
        return _render_at(expressions.render, text, place, body)

    return Rendered(
        labels=render_texts(template.metadata.labels, "labels"),
        annotations=render_texts(template.metadata.annotations, "annotations"),
        spec=_map_strings(template.spec, ("spec",), value),
    )


def _render_at(
    render: Callable[[str, object], Value], text: str, place: Place, body: object
) -> Value:
    try:
        return render(text, body)
    except (SyntaxProblemError, MissingValueError) as error:
        raise TemplateProblemError(f"{_format_place(place)}: {error}") from None


def problems(template: Template) -> list[str]:
    """Return a line `field: message` for each problem."""
    found = [*_syntax(template)]
    return found or [*_structure(template.spec)]


def _syntax(template: Template) -> Iterator[str]:
    values = {
        "metadata": {
            "labels": template.metadata.labels,
            "annotations": template.metadata.annotations,
        },
        "spec": template.spec,
    }
    for place, text in _strings(values, ()):
        try:
            expressions.parts_of(text)
        except SyntaxProblemError as error:
            yield f"{_format_place(place)}: {error}"


def _structure(spec: dict[str, object]) -> Iterator[str]:
    open_places = {p for p, text in _strings(spec, ()) if expressions.holds_expression(text)}
    numbers = itertools.count()

    def placeholder(text: str, place: Place) -> object:
        if place not in open_places:
            return expressions.render(text, {})
        # All different, so that no rule for unique values is violated.
        parts = expressions.parts_of(text)
        return "".join(p if isinstance(p, str) else f"x{next(numbers)}" for p in parts)

    filled = _map_strings(spec, (), placeholder)
    schema = schema_of(ModelExport)["properties"]["spec"]
    try:
        parsed = ModelExportSpec.model_validate_json(
            json.dumps(as_stored(filled, schema)), strict=True, by_alias=True, by_name=False
        )
    except ValidationError as error:
        certain = [
            item
            for item in error.errors(include_url=False)
            if item["type"] in _CERTAIN or not _open(item["loc"], open_places)
        ]
        for problem in problems_of(certain, schema):
            yield str(replace(problem, place=("spec", "template", "spec", *problem.place)))
        return
    fields = {str(place[0]) for place in open_places}
    for rule in RULES:
        if not fields & _fields(rule):
            for line in find_violations([rule], parsed):
                yield f"spec.template.{line}"


def _open(place: Place, open_places: set[Place]) -> bool:
    """Return whether there is an expression at, below or above the place of an error.

    Above and below, because a union of types adds its own names to the place.
    """
    return any(_common(place, other) for other in open_places)


def _common(place: Place, other: Place) -> bool:
    length = min(len(place), len(other))
    return place[:length] == other[:length]


def _fields(rule: Rule[ModelExportSpec]) -> set[str]:
    """Return the fields of the spec that a rule reads."""
    if rule.path:
        return {rule.path[0]}
    return set(re.findall(r"self\.(\w+)", rule.cel or ""))


def _strings(value: object, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _strings(child, (*place, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _strings(child, (*place, index))


def _map_strings(value: object, place: Place, change: Callable[[str, Place], object]) -> object:
    if isinstance(value, str):
        return change(value, place)
    if isinstance(value, dict):
        return {key: _map_strings(child, (*place, key), change) for key, child in value.items()}
    if isinstance(value, list):
        return [_map_strings(child, (*place, index), change) for index, child in enumerate(value)]
    return value


def _format_place(place: Place) -> str:
    """Return a place as the path `spec.template.…`."""
    return field_of(("spec", "template", *place))
