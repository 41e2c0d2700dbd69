"""Which sides of a model's conditions occurred, and what a further one requires of its comparisons.

`torch.where((age >= 61) & (age < 63) & (power > 95.5), ...)` is a rule that few random rows fulfil,
and that a file may lack without any trace of its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice, product

import torch

from modelexport_exporter.verification.seeking.recorded_conditions import (
    ALL_OF,
    NONE_OF,
    ORDERING,
    OVER,
    Combination,
    Comparison,
    Condition,
)

NEGATED = {"gt": "le", "le": "gt", "lt": "ge", "ge": "lt", "eq": "ne", "ne": "eq"}
MOST_WAYS = 4
"""Of making one condition true: each part of an `or` is another one."""
MOST_COMBINED = 64
"""Elements that all() or any() combines."""
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
MARGIN = 1e-3
"""How far from a comparison's edge is near, relative to its operands."""


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

    def add(self, conditions: Sequence[Condition]) -> None:
        """Note the conditions of one run."""
        for place, condition in enumerate(conditions):
            if not condition.result.numel():
                continue
            found = self.sides.setdefault((place, condition.op), set())
            if len(found) < len(Side):
                found |= _sides_of(condition)
            if isinstance(condition, Comparison) and condition.columns:
                self._add_columns(place, condition)

    def _add_columns(self, place: int, condition: Comparison) -> None:
        equal = condition.result.reshape(-1, condition.columns).any(dim=0)
        before = self.columns.get((place, condition.op), equal)
        same = before.shape == equal.shape
        self.columns[place, condition.op] = equal | before if same else equal

    def missing(self) -> list[Wish]:
        """Return what never occurred: edges last, and late conditions, made of others, first."""
        return [
            *self._missing(Side.TRUE, Side.FALSE),
            *(
                Wish(place, name, Side.TRUE, column)
                for (place, name), equal in sorted(self.columns.items())
                for column in reversed((~equal).nonzero().reshape(-1).tolist())
            ),
            *self._missing(*EDGES),
        ]

    def _missing(self, *sides: Side) -> Iterator[Wish]:
        for (place, name), found in sorted(self.sides.items(), reverse=True):
            yield from (Wish(place, name, side) for side in sides if side not in found)


def _sides_of(condition: Condition) -> set[Side]:
    found = {Side.TRUE} if condition.result.any() else set()
    found |= set() if condition.result.all() else {Side.FALSE}
    if not isinstance(condition, Comparison) or condition.op not in ORDERING:
        return {*found, *EDGES}
    apart = condition.left.double() - condition.right.double()
    little = 2 * MARGIN * torch.maximum(condition.left.abs(), condition.right.abs()).double()
    near = apart.abs() <= little
    at = {
        Side.EDGE: apart == 0,
        Side.BELOW: near & (apart < 0),
        Side.ABOVE: near & (apart > 0),
    }
    return found | {side for side, where in at.items() if where.any()}


def ways_to(
    conditions: Sequence[Condition], wish: Wish, element: int
) -> list[tuple[Requirement, ...]]:
    """Return sets of requirements, each of which fulfils the wish at this element."""
    if wish.side in EDGES:
        return [(Requirement(wish.place, element, EDGES[wish.side]),)]
    ways = _ways(conditions, wish.place, element, wish.side is Side.TRUE)
    return list(islice(ways, MOST_WAYS))


def _ways(
    conditions: Sequence[Condition], place: int, element: int, value: bool
) -> Iterator[tuple[Requirement, ...]]:
    condition = conditions[place]
    if isinstance(condition, Comparison):
        op = condition.op if value else NEGATED[condition.op]
        yield (Requirement(place, element, op),)
        return
    if condition.op in NONE_OF:
        yield from _ways(conditions, condition.parts[0], element, not value)
        return
    if condition.origin is not None and condition.op in OVER:
        own = condition.origin[element].tolist()
        parts = [(condition.parts[0], place) for place in own[: MOST_COMBINED + 1]]
    elif condition.origin is not None:
        yield from _ways(
            conditions, condition.parts[0], int(condition.origin.reshape(-1)[element]), value
        )
        return
    else:
        parts = [
            (part, _element_of(conditions[part].result, condition.result, element))
            for part in condition.parts
        ]
    if len(parts) > MOST_COMBINED:
        return
    each = [list(islice(_ways(conditions, *part, value), MOST_WAYS)) for part in parts]
    if (condition.op in ALL_OF | {"all"}) == value:
        for chosen in product(*each):
            yield tuple(requirement for way in chosen for requirement in way)
    else:
        for alternatives in each:
            yield from alternatives


def _element_of(part: torch.Tensor, whole: torch.Tensor, element: int) -> int:
    """Return the element of a tensor that is broadcast to this element of another one."""
    numbers = torch.arange(part.numel()).reshape(part.shape).expand(whole.shape)
    return int(numbers.reshape(-1)[element])


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
    apart = (condition.left.double() - condition.right.double()).abs().expand_as(condition.result)
    nearest = apart.reshape(-1).argsort()[:MOST_ELEMENTS].tolist()
    return list(dict.fromkeys([*nearest, *ends]))


def difference(conditions: Sequence[Condition], wanted: Requirement) -> tuple[float, float]:
    """Return left minus right of a comparison's element, and the magnitude of its operands.

    Raises OtherPathError if this run has another op in this place.
    """
    condition = conditions[wanted.place]
    if isinstance(condition, Combination):
        raise OtherPathError(wanted.place)
    shape = condition.result.shape
    left, right = (
        operand.expand(shape).reshape(-1)[wanted.element].double().item()
        for operand in (condition.left, condition.right)
    )
    return left - right, max(abs(left), abs(right))
