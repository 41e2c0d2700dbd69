"""Which sides of a model's conditions occurred, and what a further one requires of its comparisons.

`torch.where((age >= 61) & (age < 63) & (power > 95.5), ...)` is a rule that few random rows fulfil,
and that a file may lack without any trace of its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import torch

from modelexport_exporter.verification.seeking.decisive import decisive
from modelexport_exporter.verification.seeking.recorded_conditions import (
    MARGIN,
    ORDERING,
    Combination,
    Comparison,
    Condition,
)

NEGATED = {"gt": "le", "le": "gt", "lt": "ge", "ge": "lt", "eq": "ne", "ne": "eq"}
MOST_ELEMENTS = 3
"""Of a comparison, those nearest to its edge."""


class OtherPathError(LookupError):
    """A run took another path through the model's code."""


class Side(StrEnum):
    """What a condition may be at an element."""

    TRUE = "true"
    FALSE = "false"
    EDGE = "edge"
    """Of comparisons: both operands are equal, where > and >= differ."""
    BELOW = "below"
    ABOVE = "above"
    """The left operand is a little less, or more, than the right one."""


EDGES = {Side.EDGE: "eq", Side.BELOW: "below", Side.ABOVE: "above"}
"""What is required of the operands."""


@dataclass(frozen=True)
class Requirement:
    """One element of one comparison that is to be `op`, a name of COMPARING or EDGES."""

    place: int
    element: int
    op: str


@dataclass(frozen=True)
class Wish:
    """A condition whose side is to be reached at some element."""

    place: int
    name: str
    """Of its op: another path through the code has another op in this place."""
    side: Side
    column: int | None = None
    """Of a list, the element to be equal to."""


@dataclass
class Seen:
    """Which sides of conditions occurred somewhere, in all runs."""

    sides: dict[tuple[int, str], set[Side]] = field(default_factory=dict)
    columns: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict)
    """Which elements of a list something was equal to."""
    kinks: set[int] = field(default_factory=set)
    """Places of conditions that are wished for last: a network has one for each layer."""

    def add(self, conditions: Sequence[Condition]) -> None:
        """Note the conditions of one run, where they decide."""
        masks = decisive(conditions)
        for place, condition in enumerate(conditions):
            if not condition.result.numel():
                continue
            found = self.sides.setdefault((place, condition.op), set())
            if len(found) < len(Side):
                found |= _sides_of(condition, masks[place])
            if isinstance(condition, Comparison) and condition.is_kink:
                self.kinks.add(place)
            if isinstance(condition, Comparison) and condition.columns:
                self._add_columns(place, condition)

    def _add_columns(self, place: int, condition: Comparison) -> None:
        equal = condition.result.reshape(-1, condition.columns).any(dim=0)
        before = self.columns.get((place, condition.op), equal)
        same = before.shape == equal.shape
        self.columns[place, condition.op] = equal | before if same else equal

    def missing(self, *, near: bool = True) -> list[Wish]:
        """Return what never occurred: edges last, and late conditions, made of others, first.

        `near`: also what is a little below and above an edge.
        """
        sides = [*self._missing(Side.TRUE, Side.FALSE)]
        return [
            *(wish for wish in sides if wish.place not in self.kinks),
            *(
                Wish(place, name, Side.TRUE, column)
                for (place, name), equal in sorted(self.columns.items())
                for column in reversed((~equal).nonzero().reshape(-1).tolist())
            ),
            *self._missing(Side.EDGE),
            *(self._missing(Side.BELOW, Side.ABOVE) if near else ()),
            *(wish for wish in sides if wish.place in self.kinks),
        ]

    def _missing(self, *sides: Side) -> Iterator[Wish]:
        for (place, name), found in sorted(self.sides.items(), reverse=True):
            yield from (Wish(place, name, side) for side in sides if side not in found)


def _sides_of(condition: Condition, mask: torch.Tensor) -> set[Side]:
    found = {Side.TRUE} if (condition.result & mask).any() else set()
    found |= {Side.FALSE} if (~condition.result & mask).any() else set()
    if not isinstance(condition, Comparison) or condition.op not in ORDERING or condition.is_kink:
        return {*found, *EDGES}
    apart = condition.apart
    near = np.abs(apart) <= 2 * MARGIN * condition.magnitudes
    at = {Side.EDGE: apart == 0, Side.BELOW: near & (apart < 0), Side.ABOVE: near & (apart > 0)}
    decides = mask.reshape(-1).cpu().numpy()
    return found | {side for side, where in at.items() if (where & decides).any()}


def elements_near(conditions: Sequence[Condition], wish: Wish) -> list[int]:
    """Return the elements at which the wish is tried: the nearest to the edge, first, and last."""
    condition = conditions[wish.place]
    last = condition.result.numel() - 1
    if last < 0:
        return []
    ends = [0, last]
    if not isinstance(condition, Comparison):
        return list(dict.fromkeys(ends))
    if wish.column is not None:
        return list(range(wish.column, last + 1, max(condition.columns, 1)))[:MOST_ELEMENTS]
    nearest = np.abs(condition.apart).argsort(kind="stable")[:MOST_ELEMENTS].tolist()
    return list(dict.fromkeys([*nearest, *ends]))


def difference(conditions: Sequence[Condition], wanted: Requirement) -> tuple[float, float]:
    """Return left minus right of a comparison's element, and the magnitude of its operands.

    Raises OtherPathError if this run has another op in this place.
    """
    condition = conditions[wanted.place]
    if isinstance(condition, Combination):
        raise OtherPathError(wanted.place)
    return float(condition.apart[wanted.element]), float(condition.magnitudes[wanted.element])
