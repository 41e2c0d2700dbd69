"""A cross-field rule: CEL for the API server, and the same rule in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from modelexport_api.problem import Place, field_of

Spec = TypeVar("Spec")


@dataclass(frozen=True)
class Explained:
    """A violation of a rule."""

    place: Place
    """Of the field, below the spec."""
    sentence: str


@dataclass(frozen=True)
class Rule(Generic[Spec]):
    """A rule: `cel` is evaluated at `path` of the spec, `holds` on the whole spec.

    `cel` is None if the schema already expresses the rule.
    """

    path: tuple[str, ...]
    cel: str | None
    message: str
    holds: Callable[[Spec], bool]
    explain: Callable[[Spec], Iterable[Explained]] | None = None
    """What violates the rule and what to write, more exactly than `message`."""

    @property
    def field(self) -> str:
        """Return the field as the API server prints it."""
        return ".".join(("spec", *self.path))


def find_violations(rules: Iterable[Rule[Spec]], spec: Spec) -> list[str]:
    """Return a line `field: message` for each violation."""
    return [line for rule in rules if not rule.holds(spec) for line in _lines(rule, spec)]


def _lines(rule: Rule[Spec], spec: Spec) -> list[str]:
    found = list(rule.explain(spec)) if rule.explain is not None else []
    return [
        f"{field_of(('spec', *one.place))}: {one.sentence} ({rule.message})" for one in found
    ] or [f"{rule.field}: {rule.message}"]
