"""Which sizes forward accepts of each axis, after it accepted one of each: by trial runs, pure.

An axis is dynamic where a size far from the first one is accepted: pools and strides round sizes
nearby to the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from modelexport_exporter.inference.guess import BATCH, MOST_ELEMENTS, Guesses

Accepts = Callable[[Guesses], bool]

_PAIR = 2
_STEPS = (1, 2, 4, 8, 16, 32, 64)
"""Sizes may have to be multiples of one of these: a network that halves pictures five times."""
_LARGEST_BATCH = 32
LARGEST = 512
"""The largest size that is proposed of a dim that has no limit of its own."""
_LARGEST_BY_RANK = {4: 256, 5: 64}
"""Of pictures and volumes, which grow with the second and third power of a size."""
_COMMON = (28, 32, 64, 224, 96, 128, 48, 84, 256, 299, 384, 512, 160, 192, 112, 8, 16, 24, 100)
"""Sizes that pictures and signals have, the likeliest first."""
_NEAR = 6
"""Common sizes that are tried in place of one that a search ended at."""


@dataclass(frozen=True)
class Extent:
    """The sizes of a dim: `step * n`, for n from `low` to `high`."""

    axis: str
    low: int
    high: int
    step: int
    source: str


@dataclass(frozen=True)
class Extents:
    """What may change, and a call that is accepted."""

    guesses: Guesses
    """The axes of one dim are one."""
    found: tuple[Extent, ...]
    accepted: bool = True
    """Whether forward accepts the guesses."""


def find_extents(
    accepts: Accepts, guesses: Guesses, stated: Collection[str] = frozenset()
) -> Extents:
    """Return the dynamic dims of a guess that is accepted.

    `stated`: axes that are not varied. A size that a layer's weights led to is varied, too: the
    input may reach another layer. `accepts` raises TimeoutError to end the search: what is left
    stays as it is.
    """
    found: list[Extent] = []
    fixed: list[str] = []
    for axis in [axis for axis in guesses.used if axis not in stated]:
        extent = _in_time(accepts, guesses, axis)
        if extent is None:
            fixed.append(axis)
        else:
            found.append(extent)
    for group in _equal(guesses, fixed):
        if not set(group) <= {*fixed}:
            continue
        tied = _renamed(guesses, group[1:], group[0])
        extent = _in_time(accepts, tied, group[0])
        if extent is not None:
            guesses = tied
            found.append(extent)
            fixed = [axis for axis in fixed if axis not in group]
    return Extents(_with_stated_dims(accepts, guesses, fixed, stated), tuple(found))


def _with_stated_dims(
    accepts: Accepts, guesses: Guesses, fixed: Sequence[str], stated: Collection[str]
) -> Guesses:
    """Return the guess with the user's dims for axes that change together with these only.

    A mask that nobody states has the length of the tokens.
    """
    try:
        for dim in (axis for axis in guesses.used if axis in stated):
            alike = [axis for axis in fixed if guesses.sizes.get(axis) == guesses.sizes[dim]]
            for axes in _groups(alike):
                tied = _renamed(guesses, axes, dim)
                if _only_together(accepts, guesses, tied, dim):
                    guesses = tied
                    break
    except TimeoutError:
        pass
    return guesses


def _groups(axes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all axes, then pairs, then each."""
    for count in dict.fromkeys((len(axes), _PAIR, 1)):
        if 0 < count <= len(axes):
            yield from combinations(axes, count)


def _renamed(guesses: Guesses, axes: Sequence[str], dim: str) -> Guesses:
    for axis in axes:
        guesses = guesses.renamed(axis, dim)
    return guesses


def _only_together(accepts: Accepts, apart: Guesses, tied: Guesses, dim: str) -> bool:
    """Return whether another size of a dim is accepted, and refused where the others stay."""
    base = tied.sizes[dim]
    others = (size for size in (base * 2, base * 4, base // 2, base + 1, base - 1) if size > 0)
    size = next((one for one in others if accepts(tied.with_size(dim, one))), None)
    return size is not None and not accepts(apart.with_size(dim, size))


def not_varied(guesses: Guesses, stated: Collection[str]) -> Extents:
    """Return the dims of a guess that is refused: common sizes of what is not stated."""
    source = "forward accepts none that was tried"
    found = [
        Extent(axis, 1, _highest(guesses, axis), 1, source)
        for axis in guesses.used
        if axis not in stated
    ]
    return Extents(guesses, tuple(found), accepted=False)


def _equal(guesses: Guesses, axes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield axes of equal sizes, which may change together only: all, then those of two inputs."""
    by_size: dict[int, list[str]] = {}
    for axis in axes:
        by_size.setdefault(guesses.sizes[axis], []).append(axis)
    for group in by_size.values():
        for count in range(len(group), 1, -1):
            if count == len(group) or count == _PAIR:
                yield from combinations(group, count)


def _in_time(accepts: Accepts, guesses: Guesses, axis: str) -> Extent | None:
    try:
        return _extent(accepts, guesses, axis)
    except TimeoutError:
        return None


def _extent(accepts: Accepts, guesses: Guesses, axis: str) -> Extent | None:
    """Return the sizes that an axis may have; None if only one of them is accepted."""
    base = guesses.sizes[axis]

    def takes(size: int) -> bool:
        return accepts(guesses.with_size(axis, size))

    highest = _highest(guesses, axis)
    room = base * MOST_ELEMENTS // max(guesses.elements, 1)
    highest = max(min(highest, room), base)
    far = [size for size in (base * 2, base * 4, base // 2) if 0 < size <= max(room, base)]
    reached = next((size for size in far if size != base and takes(size)), None)
    if reached is None:
        return None
    step = _step(takes, base, reached)
    middle = min(max(base, reached), highest)
    low = _edge(takes, min(base, reached), step, step)
    high = _edge(takes, middle if takes(middle) else base, highest // step * step, step)
    refused = f"; {high + step} is refused" if high + step <= highest else ""
    times = f", multiples of {step}" if step > 1 else ""
    return Extent(axis, low // step, high // step, step, f"ran at {low} and {high}{times}{refused}")


def _highest(guesses: Guesses, axis: str) -> int:
    if guesses.is_first(axis):
        return _LARGEST_BATCH
    rank = max(len(one.axes) for one in guesses.inputs if axis in one.axes)
    return max(_LARGEST_BY_RANK.get(rank, LARGEST), 2 * guesses.sizes[axis])


def _step(takes: Callable[[int], bool], base: int, reached: int) -> int:
    """Return the smallest step between sizes that are accepted."""
    start = min(base, reached)
    for step in _STEPS:
        aligned = start // step * step
        sizes = (aligned + step, aligned + 3 * step)
        if all(takes(size) for size in sizes if size != base):
            return step
    return 1


def _edge(takes: Callable[[int], bool], accepted: int, end: int, step: int) -> int:
    """Return the multiple of a step that is nearest to an end and still accepted."""
    if accepted % step:
        accepted = accepted // step * step or step
    if accepted == end or takes(end):
        return end
    refused = end
    while abs(refused - accepted) > step:
        middle = (accepted + refused) // 2 // step * step
        if middle in {accepted, refused}:
            break
        accepted, refused = (middle, refused) if takes(middle) else (accepted, middle)
    return accepted


def with_common_sizes(accepts: Accepts, guesses: Guesses) -> Guesses:
    """Return the guess with sizes that users have, where the search found others that are fixed.

    224 instead of 219, where a flattened image has the same length.
    """
    groups: dict[int, list[str]] = {}
    for axis in guesses.free:
        if axis != BATCH:
            groups.setdefault(guesses.sizes[axis], []).append(axis)
    for size, axes in groups.items():
        if len(axes) > 1 or len(groups) == 1:
            guesses = _with_common_size(accepts, guesses, axes, size)
    return guesses


def _with_common_size(
    accepts: Accepts, guesses: Guesses, axes: Sequence[str], size: int
) -> Guesses:
    def changed(to: int) -> Guesses:
        made = guesses
        for axis in axes:
            made = made.with_size(axis, to)
        return made

    near = [one for one in _COMMON if size // 2 <= one <= size * 2]
    for one in sorted(near, key=lambda one: abs(one - size))[:_NEAR]:
        if one == size or accepts(changed(one)):
            return changed(one)
    return guesses
