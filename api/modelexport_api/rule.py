"""A cross-field rule: CEL for the API server, and the same rule in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Spec = TypeVar("Spec")


@dataclass(frozen=True)
class Rule(Generic[Spec]):
    """A rule: `cel` is evaluated at `path` of the spec, `holds` on the whole spec.

    `cel` is None if the schema already expresses the rule.
    """

    path: tuple[str, ...]
    cel: str | None
    message: str
    holds: Callable[[Spec], bool]

    @property
    def field(self) -> str:
        """Return the field as the API server prints it."""
        return ".".join(("spec", *self.path))


def find_violations(rules: Iterable[Rule[Spec]], spec: Spec) -> list[str]:
    """Return a line `field: message` for each rule that the spec violates."""
    return [f"{rule.field}: {rule.message}" for rule in rules if not rule.holds(spec)]
