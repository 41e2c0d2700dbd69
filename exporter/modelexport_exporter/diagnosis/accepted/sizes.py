"""Which of the declared sizes forward accepts, after it refused some: found by calls, pure.

One dim is varied at a time; the other sizes are those of an accepted call. The result is a smallest
or largest size, a single size, multiples of a number, or dims that must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from modelexport_api.spec import Dim
from modelexport_exporter.core.dims import is_dynamic
from modelexport_exporter.diagnosis.accepted.limits import Accepts, Limit, Sizes, spread
from modelexport_exporter.diagnosis.accepted.starts import starts
from modelexport_exporter.diagnosis.accepted.ties import ties

_MOST_DIMS = 6
_LISTED = 5
_ENOUGH = 3
"""So many accepted sizes show a step between them."""


def limits_of_sizes(accepts: Accepts, dims: Mapping[str, Dim], refused: Sizes) -> list[Limit]:
    """Return what the sizes of accepted calls have in common; empty if no call was accepted.

    `accepts` may raise to end the search.
    """
    dynamic = {name: dims[name] for name in refused if is_dynamic(dims[name])}
    names = list(dynamic)[:_MOST_DIMS]
    accepted = next((sizes for sizes in starts(dynamic, refused) if accepts(sizes)), None)
    if accepted is None:
        return []
    alone = {name: _taken_alone(accepts, name, dynamic[name], accepted) for name in names}
    fixed = [name for name in names if len(alone[name].taken) == 1 and alone[name].left]
    tied = list(ties(accepts, fixed, dynamic, accepted))
    in_ties = {name for tie in tied for name in tie.names}
    own = (_limit(name, alone[name]) for name in names if name not in in_ties)
    return [*(tie.limit for tie in tied), *(limit for limit in own if limit)]


@dataclass(frozen=True)
class _Taken:
    """The sizes of one dim that were accepted and refused, the others as they are."""

    taken: Sequence[int]
    left: Sequence[int]


def _taken_alone(accepts: Accepts, name: str, dim: Dim, accepted: Sizes) -> _Taken:
    outcome = {accepted[name]: True}

    def takes(size: int) -> bool:
        if size not in outcome:
            outcome[size] = accepts({**accepted, name: size})
        return outcome[size]

    for size in spread(dim):
        takes(size)
    _find_neighbour(takes, outcome, dim)
    step = _step(outcome)
    for edge in _edges(outcome):
        low, high = edge
        while high - low > step:
            middle = low + max((high - low) // 2 // step, 1) * step
            low, high = (middle, high) if takes(middle) == takes(low) else (low, middle)
    ordered = sorted(outcome)
    return _Taken([one for one in ordered if outcome[one]], [o for o in ordered if not outcome[o]])


def _find_neighbour(takes: Callable[[int], bool], outcome: Mapping[int, bool], dim: Dim) -> None:
    """Search for a step between accepted sizes, if few were found: 224, after 448 was accepted."""
    taken = [size for size in outcome if outcome[size]]
    if len(taken) >= _ENOUGH or not taken[0]:
        return
    common = math.gcd(*taken)
    for step in (step for step in range(1, common + 1) if common % step == 0):
        near = [size for size in (common - step, common + step) if dim.min <= size <= dim.max]
        if any(takes(size) for size in near):
            takes(common)
            return


def _edges(outcome: Mapping[int, bool]) -> list[tuple[int, int]]:
    """Return the neighbours where all larger, or all smaller sizes are refused, if a gap is left.

    Of sizes that share a step: the refused ones between multiples of a number are no edge.
    """
    taken = [size for size in sorted(outcome) if outcome[size]]
    step = _step(outcome)
    alike = [size for size in sorted(outcome) if (size - taken[0]) % step == 0]
    below = [size for size in alike if size < taken[0]]
    above = [size for size in alike if size > taken[-1]]
    return [*((size, taken[0]) for size in below[-1:]), *((taken[-1], size) for size in above[:1])]


def _step(outcome: Mapping[int, bool]) -> int:
    """Return the largest number that divides all distances of accepted sizes.

    1 for fewer than three, or if none between them was refused: those tried may share a factor.
    """
    taken = sorted(size for size in outcome if outcome[size])
    between = any(taken[0] < size < taken[-1] for size in outcome if not outcome[size])
    if len(taken) < _ENOUGH or not between:
        return 1
    return math.gcd(*(size - taken[0] for size in taken)) or 1


def _limit(name: str, found: _Taken) -> Limit | None:
    """Return what the accepted sizes of one dim have in common."""
    taken, left = found.taken, found.left
    if not left:
        return None
    if len(taken) == 1:
        size = taken[0]
        return Limit(f"{name} = {size} only", f"Write {size} for {name} in inputs[].shape.")
    step = _step({**dict.fromkeys(taken, True), **dict.fromkeys(left, False)})
    alike = [size for size in left if (size - taken[0]) % step == 0]
    if any(taken[0] < size < taken[-1] for size in alike):
        some, not_these = _listed(taken), _listed(left)
        return Limit(f"{name} = {some}, not {not_these}", f"Declare in dims.{name} only such.")
    bounds, advice = [], []
    if any(size < taken[0] for size in alike):
        bounds.append(f"from {taken[0]} on")
        advice.append(f"dims.{name}.min: {taken[0]}")
    if any(size > taken[-1] for size in alike):
        bounds.append(f"up to {taken[-1]}")
        advice.append(f"dims.{name}.max: {taken[-1]}")
    said = f"{name} {' and '.join(bounds)}" if bounds else ""
    wanted = f"Set {' and '.join(advice)}." if advice else ""
    if len(alike) == len(left):
        return Limit(said, wanted)
    of_step = _of_step(name, taken[0], step)
    if taken[0] % step:
        advised = f"Let forward pad {name} to such a size, or declare one size in inputs[].shape."
    else:
        # The expression counts steps: it has the limits, too.
        steps = f"{taken[0] // step}..{taken[-1] // step}"
        wanted = f"Write {step} * {name} for {name} in inputs[].shape, and dims.{name} of {steps}"
        advised = f"(or let forward pad {name} to such a size)."
    return Limit(f"{said}, {of_step}" if said else of_step, f"{wanted} {advised}".strip())


def _of_step(name: str, first: int, step: int) -> str:
    rest = first % step
    more = f"{rest} more than " if rest else ""
    return f"{name} {more}a multiple of {step}"


def _listed(sizes: Sequence[int]) -> str:
    shown = ", ".join(map(str, sizes[:_LISTED]))
    return shown if len(sizes) <= _LISTED else f"{shown}, …"
