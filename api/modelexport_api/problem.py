"""An error of a manifest, in the four parts that a user needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from modelexport_api.printable import excerpt, printable

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """What is wrong with a field; as text: `field: problem; expected …; advice`."""

    place: Place
    problem: str
    """What was found: `found "64", which is text`, `missing`."""
    expected: str = ""
    advice: str = ""
    """What to write."""

    def __str__(self) -> str:
        parts = (self.problem, self.expected and f"expected {self.expected}", self.advice)
        text = "; ".join(part for part in parts if part)
        return printable(f"{field_of(self.place)}: {text}")


def field_of(place: Place) -> str:
    """Return a place as the API server prints it: `spec.inputs[0].shape`."""
    text = ""
    for part in place:
        name = excerpt(part)
        text += f"[{name}]" if isinstance(part, int) else f".{name}" if text else name
    return text or "the manifest"


def lines_of(problems: Iterable[Problem]) -> str:
    """Return a line for each problem, each line once."""
    return "\n".join(dict.fromkeys(str(problem) for problem in problems))
