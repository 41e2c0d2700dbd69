r"""The subset of JSONPath that selects values in a Kubernetes object, in kubectl's syntax.

Fields (`.metadata.name`, `metadata.name`, `['a/b']`, `.a\.b`), indexes (`[0]`, `[-1]`), all
elements (`[*]`, `.*`) and filters (`[?(@.name=="OUT")]` with == and !=, or `[?(@.name)]`).
Anything else is an error with its position.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_NAME = re.compile(r"(?:[^\s.\[\](){}'\"|,=!@$*?\\]|\\.)+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_OPERATOR = re.compile(r"\s*(==|!=)\s*")
_WORDS = {"true": True, "false": False, "null": None}


class PathError(ValueError):
    """An invalid path; the message has the position of the error."""


@dataclass(frozen=True)
class Member:
    """A field of an object."""

    name: str

    def of(self, value: object) -> Iterator[object]:
        """Yield the field if it exists."""
        if isinstance(value, Mapping) and self.name in value:
            yield value[self.name]


@dataclass(frozen=True)
class Index:
    """An element of a list; negative ones count from its end."""

    number: int

    def of(self, value: object) -> Iterator[object]:
        """Yield the element if it exists."""
        if isinstance(value, list) and -len(value) <= self.number < len(value):
            yield value[self.number]


@dataclass(frozen=True)
class Wildcard:
    """All elements of a list, or all values of an object."""

    def of(self, value: object) -> Iterator[object]:
        """Yield them in order."""
        if isinstance(value, list):
            yield from value
        elif isinstance(value, Mapping):
            yield from value.values()


@dataclass(frozen=True)
class Filter:
    """The elements of a list that match a comparison."""

    path: Path
    operator: str | None
    literal: Any

    def of(self, value: object) -> Iterator[object]:
        """Yield them in order."""
        if isinstance(value, list):
            yield from (entry for entry in value if self._matches(entry))

    def _matches(self, entry: object) -> bool:
        found = self.path.find(entry)
        if self.operator is None:
            return bool(found)
        equal = any(_same(value, self.literal) for value in found)
        return equal if self.operator == "==" else bool(found) and not equal


Step = Member | Index | Wildcard | Filter


@dataclass(frozen=True)
class Path:
    """A parsed path."""

    steps: tuple[Step, ...]

    def find(self, value: object) -> list[object]:
        """Return all values at the path, in order."""
        found = [value]
        for step in self.steps:
            found = [child for entry in found for child in step.of(entry)]
        return found


def parse(text: str) -> Path:
    """Parse a path, with or without kubectl's braces. Raises PathError."""
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1].strip()
    path, end = parse_from(inner, 0)
    if end != len(inner):
        raise PathError(f"unexpected {inner[end:]!r} after {inner[:end]!r}")
    return path


def parse_from(text: str, start: int) -> tuple[Path, int]:
    """Parse the path that begins at `start`; return it and its end. Raises PathError."""
    reader = _Reader(text, start)
    return reader.path(), reader.at


class _Reader:
    """Parses one path; `at` is the current position."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def path(self) -> Path:
        self._take("$")
        steps: list[Step] = []
        if self._peek() not in {".", "["}:
            steps.append(self._member())
        while self._peek() in {".", "["}:
            steps.append(self._bracket() if self._take("[") else self._format_place())
        return Path(tuple(steps))

    def _format_place(self) -> Step:
        self._expect(".")
        if self._peek() == ".":
            raise self._error("'..' (any depth) is not supported, use the full path")
        return Wildcard() if self._take("*") else self._member()

    def _member(self) -> Member:
        match = _NAME.match(self.text, self.at)
        if match is None:
            raise self._error("expected a field name")
        self.at = match.end()
        return Member(re.sub(r"\\(.)", r"\1", match.group()))

    def _bracket(self) -> Step:
        self._blanks()
        step: Step
        if self._take("*"):
            step = Wildcard()
        elif self._take("?"):
            step = self._filter()
        elif self._peek() in {"'", '"'}:
            step = Member(self._string())
        else:
            step = Index(self._integer())
        self._blanks()
        self._expect("]")
        return step

    def _filter(self) -> Filter:
        self._expect("(")
        self._blanks()
        self._expect("@")
        path = self.path() if self._peek() in {".", "["} else Path(())
        match = _OPERATOR.match(self.text, self.at)
        operator, literal = None, None
        if match is not None:
            self.at = match.end()
            operator, literal = match.group(1), self._literal()
        self._blanks()
        self._expect(")")
        return Filter(path, operator, literal)

    def _literal(self) -> object:
        if self._peek() in {"'", '"'}:
            return self._string()
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            raise self._error("expected a quoted string, a number, true, false or null")
        self.at = match.end()
        return json.loads(match.group())

    def _string(self) -> str:
        quote = self.text[self.at]
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise self._error(f"the string has no closing {quote}")
        found = self.text[self.at + 1 : end]
        self.at = end + 1
        return found

    def _integer(self) -> int:
        match = _NUMBER.match(self.text, self.at)
        if match is None or "." in match.group():
            raise self._error("expected a number, a quoted name, * or ?(…) in brackets")
        self.at = match.end()
        return int(match.group())

    def _blanks(self) -> None:
        while self._peek() == " ":
            self.at += 1

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, character: str) -> bool:
        found = self._peek() == character
        self.at += found
        return found

    def _expect(self, character: str) -> None:
        if not self._take(character):
            raise self._error(f"expected {character!r}")

    def _error(self, message: str) -> PathError:
        return PathError(f"{message} at character {self.at + 1} of {self.text!r}")


def _same(value: object, literal: object) -> bool:
    """Compare as in JSON: true is not equal to 1."""
    return isinstance(value, bool) == isinstance(literal, bool) and value == literal
