"""Sentences for the errors that pydantic finds in a manifest: one for each of its error types.

Each names the field, what was found, what is expected and, where it can be known, what to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic_core import ErrorDetails

from modelexport_api.nearest import CERTAIN, is_same_name, nearest
from modelexport_api.printable import excerpt
from modelexport_api.problem import Place, Problem, field_of
from modelexport_api.repairs import repaired
from modelexport_api.schema import Schema
from modelexport_api.schema_words import (
    example,
    expectation,
    is_int_or_string,
    kind_of,
    of_pattern,
    shown,
)
from modelexport_api.stored import child_schema
from modelexport_api.synonyms import synonym
from modelexport_api.text_forms import FORMS
from modelexport_api.types import URI_PATTERN
from modelexport_api.uri_forms import meant_uri, why_not
from modelexport_api.yaml_text import inline

_LONGEST_ADVICE = 200
_PLACES = 3
_MOST = 100
"""Errors that are put into words: more than a message has lines."""


@dataclass(frozen=True)
class Found:
    """An error, with the schema of its field."""

    place: Place
    value: Any
    schema: Schema
    """Empty if the field is unknown."""
    parent: Schema
    root: Schema
    message: str
    context: Mapping[str, Any]
    is_key: bool
    relative: bool
    """Whether `file://./` is understood."""

    @property
    def name(self) -> str:
        """Return the name of the field; of an entry of a list, that of the list."""
        return next((part for part in reversed(self.place) if isinstance(part, str)), "")

    @property
    def expected(self) -> str:
        """Return what the schema expects."""
        return expectation(self.schema, relative=self.relative)

    def write(self, value: object) -> str:
        """Return `write max: 64`; of an entry of a list, the entry alone."""
        text = inline(value)
        if len(text) > _LONGEST_ADVICE or not text.isprintable():
            return ""
        is_entry = self.is_key or (self.place and isinstance(self.place[-1], int))
        return f"write {text}" if is_entry else f"write {self.name}: {text}"


def problems_of(
    errors: Iterable[ErrorDetails], root: Schema, *, relative: bool = False
) -> list[Problem]:
    """Return a problem for each error; of a union's, the one that is not about the type."""
    found: dict[Place, Problem] = {}
    for error in islice(errors, _MOST):
        at = _locate(error, root, relative=relative)
        sentence = SENTENCES.get(error["type"], _other)
        if at.place not in found or sentence is not _wrong_type:
            found[at.place] = sentence(at)
    return _in_order(found)


def _in_order(found: dict[Place, Problem]) -> list[Problem]:
    """Return unknown fields first: what is missing is often there under another name."""
    unknown = [one for one in found.values() if one.problem.startswith(_UNKNOWN)]
    meant = {(*one.place[:-1], _meant(one)) for one in unknown}
    rest = [one for place, one in found.items() if one not in unknown and place not in meant]
    return unknown + rest


def _meant(problem: Problem) -> str:
    return problem.advice.partition("`")[2].partition("`")[0]


def _locate(error: ErrorDetails, root: Schema, *, relative: bool) -> Found:
    """Follow an error into the schema, as far as it has fields: a union adds names of its own."""
    place: list[str | int] = []
    parent, schema, is_key = root, root, False
    for part in error["loc"]:
        if part == "[key]":
            is_key = True
            break
        if is_int_or_string(schema):
            break
        place.append(part)
        below = schema.get("items") if isinstance(part, int) else child_schema(schema, part)
        parent, schema = schema, below if isinstance(below, dict) else {}
    context = error.get("ctx", {})
    return Found(
        tuple(place), error["input"], schema, parent, root, error["msg"], context, is_key, relative
    )


def _wrong_type(found: Found) -> Problem:
    value = found.value
    if value is None:
        return Problem(found.place, "found no value", found.expected, _write_example(found))
    advice = ""
    if isinstance(value, bool) and found.schema.get("type") == "string":
        advice = "put it in quotes: YAML reads yes, no, on, off, true and false as booleans"
    else:
        instead = repaired(value, found.schema)
        if isinstance(instead, dict) and "uri" in instead:
            meant = meant_uri(str(instead["uri"]), relative=found.relative)
            instead = {**instead, "uri": meant or instead["uri"]}
        advice = found.write(instead) if instead is not None else ""
    problem = f"found {shown(value)} ({kind_of(value)})"
    if isinstance(value, float) and found.schema.get("type") == "integer":
        advice = found.write(round(value))
    return Problem(found.place, problem, found.expected, advice)


def _write_example(found: Found) -> str:
    value = example(found.schema, found.name, relative=found.relative)
    return found.write(value)


def _missing(found: Found) -> Problem:
    advice = _write_example(found)
    if found.place == ("metadata", "name"):
        return _no_name(found)
    return Problem(found.place, "missing", found.expected, advice)


def _no_name(found: Found) -> Problem:
    generated = isinstance(found.value, dict) and "generateName" in found.value
    problem = "resource name may not be empty" + ", and generateName is no name" * generated
    return Problem(found.place, problem, "a name", "write name: my-model")


_UNKNOWN = "unknown field"


def _unknown(found: Found) -> Problem:
    name = excerpt(found.place[-1])
    known = list(found.parent.get("properties", {}))
    problem, place = f"{_UNKNOWN} `{name}`", found.place
    near = nearest(name, known, CERTAIN)
    if near is None:
        elsewhere = [field_of(path) for path in _places(found.root, name, ())]
        if elsewhere:
            where = " or ".join(elsewhere[:_PLACES])
            return Problem(place, problem, "", f"write it as {where}, where it belongs")
        near = nearest(name, known)
    if near is not None:
        return Problem(place, problem, "", f"did you mean `{near}`?")
    return Problem(place, problem, f"one of {', '.join(known)}" if known else "no such field")


def _places(schema: Schema, name: str, path: Place) -> Iterator[Place]:
    """Yield the places of the fields with a name, whatever their case."""
    for key, child in schema.get("properties", {}).items():
        if is_same_name(key, name):
            yield (*path, key)
        yield from _places(child, name, (*path, key))
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from _places(schema[inner], name, path)


def _not_listed(found: Found) -> Problem:
    value, listed = found.value, [str(entry) for entry in found.schema.get("enum", [])]
    if not isinstance(value, str):
        problem = f"found {shown(value)} ({kind_of(value)})"
        return Problem(found.place, problem, found.expected)
    near = synonym(value, listed) or nearest(value, listed)
    advice = found.write(near) if near is not None else ""
    return Problem(found.place, f"found {shown(value)}", found.expected, advice)


def _out_of_range(found: Found) -> Problem:
    low, high = found.schema.get("minimum"), found.schema.get("maximum")
    if is_int_or_string(found.schema):
        advice = FORMS[found.schema["pattern"]].unfit(shown(found.value))
        return Problem(found.place, f"found {shown(found.value)}", found.expected, advice)
    nearest_limit = low if low is not None and found.value < low else high
    advice = found.write(nearest_limit) if nearest_limit is not None else ""
    return Problem(found.place, f"found {shown(found.value)}", found.expected, advice)


def _wrong_length(found: Found) -> Problem:
    value, schema = found.value, found.schema
    if isinstance(value, str):
        if not value:
            return _empty_text(found)
        limit = found.context.get("max_length", schema.get("maxLength"))
        problem = f"found a text of {len(value)} characters"
        return Problem(found.place, problem, f"at most {limit} characters")
    what = "entry" if len(value) == 1 else "entries"
    problem = f"found {shown(value)} ({len(value) or 'no'} {what})"
    advice = _write_example(found) if not value else ""
    if found.name == "range":
        advice = "write range: [smallest, largest]"
    return Problem(found.place, problem, found.expected, advice)


def _empty_text(found: Found) -> Problem:
    if found.place == ("metadata", "name"):
        return _no_name(found)
    needed = found.name in found.parent.get("required", []) or isinstance(found.place[-1], int)
    advice = _write_example(found) if needed else "leave the field out"
    return Problem(found.place, 'found "" (an empty text)', found.expected, advice)


def _wrong_form(found: Found) -> Problem:
    pattern, value = str(found.context.get("pattern", "")), str(found.value)
    problem = f"found {shown(value)}" if not found.is_key else f"found the key {shown(value)}"
    if pattern == URI_PATTERN:
        meant = meant_uri(value, relative=found.relative)
        is_path = ":" not in value and meant is not None
        return Problem(
            found.place,
            problem + " (a plain path)" * is_path,
            of_pattern(pattern, relative=found.relative),
            found.write(meant) if meant else why_not(value),
        )
    form = FORMS.get(pattern)
    if form is None:
        return Problem(found.place, problem, found.expected)
    instead = form.meant(value)
    advice = found.write(instead) if instead is not None else form.unfit(value)
    return Problem(found.place, problem, form.says, advice)


def _not_finite(found: Found) -> Problem:
    return Problem(found.place, f"found {inline(found.value)}", "a finite number")


def _raised(found: Found) -> Problem:
    return Problem(found.place, str(found.context.get("error", found.message)))


def _other(found: Found) -> Problem:
    message = found.message[:1].lower() + found.message[1:]
    return Problem(found.place, f"found {shown(found.value)}: {message}")


SENTENCES: Mapping[str, Callable[[Found], Problem]] = {
    **dict.fromkeys(
        (
            "int_type", "int_from_float", "int_parsing", "int_parsing_size", "float_type",
            "float_parsing", "bool_type", "bool_parsing", "string_type", "list_type", "dict_type",
            "model_type", "model_attributes_type", "datetime_type",
        ),
        _wrong_type,
    ),
    **dict.fromkeys(("enum", "literal_error"), _not_listed),
    **dict.fromkeys(
        ("greater_than", "greater_than_equal", "less_than", "less_than_equal"), _out_of_range
    ),
    **dict.fromkeys(
        ("string_too_short", "string_too_long", "too_short", "too_long"), _wrong_length
    ),
    "string_pattern_mismatch": _wrong_form,
    "finite_number": _not_finite,
    "missing": _missing,
    "extra_forbidden": _unknown,
    "value_error": _raised,
}  # fmt: skip
"""By pydantic's type of the error; a type that is not here gets pydantic's own words."""
