"""One rule that crosses fields: CEL for the API server and Python here, from one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Spec = TypeVar("Spec")


@dataclass(frozen=True)
class Rule(Generic[Spec]):
    """One rule: `cel` is evaluated at `path` of the spec, `holds` on the whole spec.

    `cel` is None where the schema itself says the same.
    """

    path: tuple[str, ...]
    cel: str | None
    message: str
    holds: Callable[[Spec], bool]

    @property
    def field(self) -> str:
        """Return the field as the API server prints it."""
        return ".".join(("spec", *self.path))


def broken(rules: Iterable[Rule[Spec]], spec: Spec) -> list[str]:
    """Return a sentence for each rule that the spec breaks, as `field: rule`."""
    return [f"{rule.field}: {rule.message}" for rule in rules if not rule.holds(spec)]
