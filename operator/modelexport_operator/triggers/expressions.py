"""Expressions in strings: `$(PATH)` is replaced by the field of the finished object at PATH.

A value that consists of one expression keeps the field's type; within other text, a string, a
number or a boolean becomes text. `$(PATH | int)`, `float` and `bool` convert a string, because
labels, annotations and environment variables are always strings. `$$(` is an escape for `$(`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from modelexport_operator.triggers.jsonpath import Path, PathError, parse_from

_OPENING = re.compile(r"\$?\$\(")
_CONVERSION = re.compile(r"\s*\|\s*(\w*)\s*")


class SyntaxProblemError(ValueError):
    """An expression with a syntax error."""


class MissingValueError(ValueError):
    """An expression without a suitable value in this object."""


@dataclass(frozen=True)
class Expression:
    """One expression, and its text for messages."""

    text: str
    path: Path
    conversion: str | None = None

    def value_in(self, body: object) -> object:
        """Return the only value. Raises MissingValueError."""
        found = [value for value in self.path.find(body) if value is not None]
        if not found:
            raise MissingValueError(f"{self.text}: the object has no such field")
        if len(found) > 1:
            raise MissingValueError(f"{self.text}: found {len(found)} values, expected one")
        if self.conversion is None:
            return found[0]
        try:
            return CONVERSIONS[self.conversion](found[0])
        except (TypeError, ValueError, OverflowError):
            message = f"{self.text}: cannot convert {_format_value(found[0])} to {self.conversion}"
            raise MissingValueError(message) from None


def _number(convert: Callable[[str], float]) -> Callable[[object], object]:
    """Convert text and numbers; reject booleans and values without a JSON form."""

    def to_number(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise TypeError
        found = convert(str(value))
        json.dumps(found, allow_nan=False)
        return found

    return to_number


def _bool(value: object) -> object:
    words = {"true": True, "false": False}
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]


CONVERSIONS: dict[str, Callable[[object], object]] = {
    "int": _number(int),
    "float": _number(float),
    "bool": _bool,
}


def parts_of(text: str) -> list[str | Expression]:
    """Split a string into literal text and expressions. Raises SyntaxProblemError."""
    parts: list[str | Expression] = []
    literal, at = "", 0
    while True:
        opening = _OPENING.search(text, at)
        if opening is None:
            parts += [literal + text[at:]] if literal or text[at:] else []
            return parts
        literal += text[at : opening.start()]
        if opening.group() == "$$(":
            literal, at = literal + "$(", opening.end()
            continue
        if literal:
            parts.append(literal)
        expression, at = _expression(text, opening.start(), opening.end())
        parts.append(expression)
        literal = ""


def holds_expression(text: str) -> bool:
    """Return whether a string contains an expression. Raises SyntaxProblemError."""
    return any(isinstance(part, Expression) for part in parts_of(text))


def render(text: str, body: object) -> object:
    """Replace the expressions in a string. Raises SyntaxProblemError or MissingValueError."""
    parts = parts_of(text)
    if len(parts) == 1 and isinstance(parts[0], Expression):
        return parts[0].value_in(body)
    return _join(parts, body)


def render_text(text: str, body: object) -> str:
    """Replace the expressions in a string by text. Raises the same errors as `render`."""
    return _join(parts_of(text), body)


def _join(parts: Iterable[str | Expression], body: object) -> str:
    return "".join(part if isinstance(part, str) else _text(part, body) for part in parts)


def _expression(text: str, start: int, at: int) -> tuple[Expression, int]:
    shown = text[start:]
    try:
        path, at = parse_from(text, at + len(text[at:]) - len(text[at:].lstrip(" ")))
    except PathError as error:
        raise SyntaxProblemError(f"{shown}: {error}") from None
    conversion = None
    match = _CONVERSION.match(text, at)
    if match is not None:
        at, conversion = match.end(), match.group(1)
        if conversion not in CONVERSIONS:
            known = ", ".join(CONVERSIONS)
            raise SyntaxProblemError(f"{shown}: after | expected one of {known}")
    while text[at : at + 1] == " ":
        at += 1
    if text[at : at + 1] != ")":
        raise SyntaxProblemError(f"{shown}: expected ')' at character {at + 1} of {text!r}")
    return Expression(text[start : at + 1], path, conversion), at + 1


def _text(expression: Expression, body: object) -> str:
    value = expression.value_in(body)
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    kind = "a list" if isinstance(value, list) else "an object"
    message = f"{expression.text}: {kind} cannot be part of a text; use it as the whole value"
    raise MissingValueError(message)


def _format_value(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004 - a line's worth
