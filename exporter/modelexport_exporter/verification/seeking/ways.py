"""What comparisons have to be for a condition to be as wished, and to decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, product

import torch

from modelexport_exporter.verification.seeking.conditions import (
    EDGES,
    NEGATED,
    Requirement,
    Side,
    Wish,
)
from modelexport_exporter.verification.seeking.recorded_conditions import (
    ALL_OF,
    ANY_OF,
    MOVING,
    NONE_OF,
    OVER,
    Combination,
    Comparison,
    Condition,
    in_rows,
)

Way = tuple[Requirement, ...]
"""Requirements that fulfil a wish together."""

MOST_WAYS = 4
"""Of making one condition true: each part of an `or` is another one."""
MOST_COMBINED = 64
"""Elements that all() or any() combines."""


def ways_to(conditions: Sequence[Condition], wish: Wish, element: int) -> list[Way]:
    """Return sets of requirements, each of which fulfils the wish at this element.

    The first also require that the condition decides there.
    """
    if wish.side in EDGES:
        ways: list[Way] = [(Requirement(wish.place, element, EDGES[wish.side]),)]
        comparison = conditions[wish.place]
        if wish.side is Side.EDGE and isinstance(comparison, Comparison):
            ways[:0] = islice(_counting_ways(conditions, comparison, element, "eq"), 1)
    else:
        found = _ways(conditions, wish.place, element, wish.side is Side.TRUE)
        ways = list(islice(found, MOST_WAYS))
    context = tuple(_context(conditions, wish.place, element))
    return [*((*way, *context) for way in ways if context), *ways]


def _context(conditions: Sequence[Condition], place: int, element: int) -> Iterator[Requirement]:
    """Yield what makes a condition decide: the other parts of what is made of it."""
    for number, parent in enumerate(conditions):
        if not isinstance(parent, Combination) or place not in parent.parts:
            continue
        own = _whole_element(parent, conditions[place].result, element)
        if own is None:
            continue
        if parent.op in ALL_OF | ANY_OF | OVER:
            value = parent.op in ALL_OF | {"all"}
            for part in _parts(conditions, parent, own):
                if part != (place, element):
                    yield from next(_ways(conditions, *part, value), ())
        yield from _context(conditions, number, own)
        return


def _whole_element(whole: Combination, part: torch.Tensor, element: int) -> int | None:
    """Return the first element of a combination that an element of a part belongs to.

    None: it belongs to none, as what a slice leaves out.
    """
    if whole.origin is None:
        numbers = torch.arange(part.numel()).reshape(part.shape).expand(whole.result.shape)
        own = numbers.reshape(-1) == element
    else:
        own = (in_rows(whole.origin, whole.result.numel()) == element).any(1)
    return int(own.nonzero()[0]) if own.any() else None


def _parts(
    conditions: Sequence[Condition], whole: Combination, element: int
) -> list[tuple[int, int]]:
    """Return the conditions and their elements that an element of a combination is made of."""
    if whole.origin is not None:
        rows = in_rows(whole.origin, whole.result.numel())
        return [(whole.parts[0], place) for place in rows[element][: MOST_COMBINED + 1].tolist()]
    return [
        (part, _element_of(conditions[part].result, whole.result, element)) for part in whole.parts
    ]


def _ways(conditions: Sequence[Condition], place: int, element: int, value: bool) -> Iterator[Way]:
    condition = conditions[place]
    if isinstance(condition, Comparison):
        op = condition.op if value else NEGATED[condition.op]
        yield from _counting_ways(conditions, condition, element, op)
        yield (Requirement(place, element, op),)
        return
    parts = _parts(conditions, condition, element)
    if len(parts) > MOST_COMBINED:
        return
    if condition.op in NONE_OF | MOVING:
        yield from _ways(conditions, *parts[0], value is (condition.op in MOVING))
        return
    each = [list(islice(_ways(conditions, *part, value), MOST_WAYS)) for part in parts]
    if (condition.op in ALL_OF | {"all"}) == value:
        yield from _together(each)
    else:
        for alternatives in each:
            yield from alternatives


def _counting_ways(
    conditions: Sequence[Condition], comparison: Comparison, element: int, op: str
) -> Iterator[Way]:
    """Yield requirements of each element that is counted: as many true as `op` requires."""
    count = comparison.count
    if count is None or comparison.right.numel() != 1:
        return
    own = _element_of(comparison.left, comparison.result, element)
    row = count.origin[own]
    before = conditions[count.part].result.reshape(-1)[row]
    wanted = _number_for(op, float(comparison.right))
    if not 0 <= wanted <= len(row) <= MOST_COMBINED:
        return
    # Those that are true remain so, from the first on; then the first of the others.
    order = torch.argsort((~before).to(torch.int8), stable=True)
    true = set(order[:wanted].tolist())
    alternatives = [
        list(islice(_ways(conditions, count.part, int(part), position in true), MOST_WAYS))
        for position, part in enumerate(row)
    ]
    yield from _together(alternatives)


def _together(alternatives: Sequence[Sequence[Way]]) -> Iterator[Way]:
    """Yield requirements of all parts, of each by one of its ways."""
    for chosen in product(*alternatives):
        yield tuple(requirement for way in chosen for requirement in way)


def _number_for(op: str, limit: float) -> int:
    """Return a number that compares with the limit like this, the nearest."""
    return {
        "eq": round(limit),
        "ne": round(limit) + 1,
        "ge": math.ceil(limit),
        "gt": math.floor(limit) + 1,
        "le": math.floor(limit),
        "lt": math.ceil(limit) - 1,
    }[op]


def _element_of(part: torch.Tensor, whole: torch.Tensor, element: int) -> int:
    """Return the element of a tensor that is broadcast to this element of another one."""
    numbers = torch.arange(part.numel()).reshape(part.shape).expand(whole.shape)
    return int(numbers.reshape(-1)[element])
