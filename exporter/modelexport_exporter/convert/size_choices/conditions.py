"""Conditions on sizes that are numbers, too: 1 where they hold, and 0 elsewhere.

`padding = 8 - h % 8 if h % 8 else 0` has another graph for every eighth height. With a condition
that is a number, both are one expression, and a condition nobody asks for the truth of narrows no
size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

Size = int | torch.SymInt


@dataclass(frozen=True, eq=False)
class SizeCondition:
    """A condition that holds at some sizes; Python's own `if` decides it by the example."""

    truth: bool | torch.SymBool
    number: Size
    """1 where it holds, else 0."""

    def __bool__(self) -> bool:
        return bool(self.truth)


def _at_least_1(size: Size) -> Size:
    return torch.sym_min(1, torch.sym_max(0, size))


def _differ(one: Size, other: Size) -> Size:
    difference = one - other
    if statically_known_true(difference >= 0):
        return torch.sym_min(1, difference)
    return torch.sym_min(1, torch.sym_max(difference, -difference))


_NUMBERS: Mapping[Callable[[Any, Any], Any], Callable[[Size, Size], Size]] = {
    operator.eq: lambda one, other: 1 - _differ(one, other),
    operator.ne: _differ,
    operator.gt: lambda one, other: _at_least_1(one - other),
    operator.ge: lambda one, other: _at_least_1(one - other + 1),
    operator.lt: lambda one, other: _at_least_1(other - one),
    operator.le: lambda one, other: _at_least_1(other - one + 1),
}


def is_size(value: object) -> bool:
    """Return whether a value is a size or an integer."""
    return isinstance(value, int | torch.SymInt) and not isinstance(value, bool)


def compared(compare: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:  # noqa: ANN401
    """Return what the comparison returns, of sizes a condition unless it is known."""
    truth = compare(one, other)
    if not isinstance(truth, torch.SymBool) or not (is_size(one) and is_size(other)):
        return truth
    if statically_known_true(truth):
        return True
    if statically_known_true(torch.sym_not(truth)):
        return False
    return SizeCondition(truth, _NUMBERS[compare](one, other))


def truth_of(value: Any) -> Any:  # noqa: ANN401
    """Return the value, of a size the condition that it is not 0."""
    return compared(operator.ne, value, 0) if isinstance(value, torch.SymInt) else value


def speaks(condition: Any) -> Any:  # noqa: ANN401
    """Return the condition of what only prints, or False where it is one on values."""
    return False if isinstance(condition, torch.Tensor) else condition


def inverse(value: Any) -> Any:  # noqa: ANN401
    """Return `not value`."""
    value = truth_of(value)
    if isinstance(value, SizeCondition):
        return SizeCondition(torch.sym_not(value.truth), 1 - value.number)
    return not value


def all_of(*operands: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return `a and b`: without a decision on sizes where another operand is false."""
    return _joined(operands, torch.sym_min, operator.and_, stops=lambda value: not value)


def any_of(*operands: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return `a or b`: without a decision on sizes where another operand is true."""
    return _joined(operands, torch.sym_max, operator.or_, stops=bool)


def _joined(
    operands: Sequence[Callable[[], Any]],
    number: Callable[[Size, Size], Size],
    truth: Callable[[Any, Any], Any],
    *,
    stops: Callable[[Any], bool],
) -> Any:  # noqa: ANN401
    found: SizeCondition | None = None
    value: Any = None
    for place, operand in enumerate(operands):
        try:
            value = operand()
        except Exception:
            # It may be meant for sizes alone at which those before it hold.
            if found is None:
                raise
            if stops(found):
                return found
            found, value = None, operand()
        if isinstance(value, SizeCondition):
            found = value if found is None else _both(found, value, number, truth)
        elif place < len(operands) - 1 and stops(value):
            return value
    if found is None:
        return value
    if isinstance(value, SizeCondition):
        return found
    if isinstance(value, bool):
        return value if stops(value) else found
    return found if stops(found) else value


def _both(
    one: SizeCondition,
    other: SizeCondition,
    number: Callable[[Size, Size], Size],
    truth: Callable[[Any, Any], Any],
) -> SizeCondition:
    return SizeCondition(truth(one.truth, other.truth), number(one.number, other.number))


def chosen(condition: SizeCondition, one: Size, other: Size) -> Size:
    """Return `one` where the condition holds, else `other`, in the simplest form that is right."""
    fails = torch.sym_not(condition.truth)
    if statically_known_true(condition.truth | (one == other)):
        return one
    if statically_known_true(fails | (one == other)):
        return other
    for modulus in _numbers_in(condition.truth):
        rest = one % modulus
        if statically_known_true(condition.truth | (rest == other)) and statically_known_true(
            fails | (rest == one)
        ):
            return rest
    return other + (one - other) * condition.number


def _numbers_in(truth: bool | torch.SymBool) -> list[int]:
    """Return the integers above 1 that a condition names, such as 8 in `h % 8 != 0`."""
    atoms = truth.node.expr.atoms() if isinstance(truth, torch.SymBool) else ()
    return sorted({int(atom) for atom in atoms if atom.is_Integer and int(atom) > 1})
