"""The template of a trigger: rendered for a finished object, and checked without one.

The check reports only what is certain whatever the object holds: expressions that cannot be read,
fields that a ModelExport does not have, literals of the wrong type, broken rules between fields
that hold no expression.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from modelexport_api.rule import Rule
from modelexport_api.rules import RULES
from modelexport_api.spec import ModelExportSpec
from modelexport_api.trigger import Template
from modelexport_operator.triggers import expressions
from modelexport_operator.triggers.expressions import MissingValueError, SyntaxProblemError

Place = tuple[str | int, ...]
Value = TypeVar("Value")
_CERTAIN = {"extra_forbidden", "missing"}


class TemplateProblemError(ValueError):
    """An expression without a value, with the field that it stands in."""


@dataclass(frozen=True)
class Rendered:
    """A template whose expressions are replaced."""

    labels: dict[str, str]
    annotations: dict[str, str]
    spec: object


def render(template: Template, body: object) -> Rendered:
    """Return the template for a finished object. Raises TemplateProblemError."""

    def replaced_in(values: dict[str, str], name: str) -> dict[str, str]:
        place = ("metadata", name)
        return {
            key: _explained(expressions.rendered_text, text, (*place, key), body)
            for key, text in values.items()
        }

    def value(text: str, place: Place) -> object:
        return _explained(expressions.rendered, text, place, body)

    return Rendered(
        labels=replaced_in(template.metadata.labels, "labels"),
        annotations=replaced_in(template.metadata.annotations, "annotations"),
        spec=_mapped(template.spec, ("spec",), value),
    )


def _explained(
    render: Callable[[str, object], Value], text: str, place: Place, body: object
) -> Value:
    try:
        return render(text, body)
    except (SyntaxProblemError, MissingValueError) as error:
        raise TemplateProblemError(f"{_dotted(place)}: {error}") from None


def problems(template: Template) -> list[str]:
    """Return a sentence for everything that is certainly wrong, as `field: what`."""
    broken = [*_syntax(template)]
    return broken or [*_structure(template.spec)]


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
            yield f"{_dotted(place)}: {error}"


def _structure(spec: dict[str, object]) -> Iterator[str]:
    open_places = {p for p, text in _strings(spec, ()) if expressions.holds_expression(text)}
    numbers = itertools.count()

    def placeholder(text: str, place: Place) -> object:
        if place not in open_places:
            return expressions.rendered(text, {})
        # No two alike, so that no rule takes two for one.
        parts = expressions.parts_of(text)
        return "".join(p if isinstance(p, str) else f"x{next(numbers)}" for p in parts)

    filled = _mapped(spec, (), placeholder)
    try:
        parsed = ModelExportSpec.model_validate(filled)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            place = item["loc"]
            if item["type"] in _CERTAIN or not _open(place, open_places):
                yield f"{_dotted(('spec', *place))}: {item['msg']}"
        return
    fields = {str(place[0]) for place in open_places}
    for rule in RULES:
        if not fields & _fields(rule) and not rule.holds(parsed):
            yield f"spec.template.{rule.field}: {rule.message}"


def _open(place: Place, open_places: set[Place]) -> bool:
    """Tell whether an expression stands at, below or above the place of an error.

    Above and below, since a union of types puts its own names into the place.
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


def _mapped(value: object, place: Place, change: Callable[[str, Place], object]) -> object:
    if isinstance(value, str):
        return change(value, place)
    if isinstance(value, dict):
        return {key: _mapped(child, (*place, key), change) for key, child in value.items()}
    if isinstance(value, list):
        return [_mapped(child, (*place, index), change) for index, child in enumerate(value)]
    return value


def _dotted(place: Place) -> str:
    """Return a place as `spec.template.…` names it."""
    path = "spec.template"
    for part in place:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path
