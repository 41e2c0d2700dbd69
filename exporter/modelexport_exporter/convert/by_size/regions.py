"""Which sizes the graphs captured so far hold for, and at which sizes to capture the next. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Dim
from modelexport_exporter.convert.failing_sizes import shares_of
from modelexport_exporter.convert.size_expressions import compiled, holds, holds_at
from modelexport_exporter.core.dims import in_spread_order, is_dynamic

Array = NDArray[Any]

MOST_COMBINATIONS = 1 << 18
"""Combinations of sizes that are looked at."""
_ENOUGH = 3
"""Graphs from which the others are judged."""
MOST_SORTED = 8192
"""Combinations of which those to be compared are chosen."""


@dataclass(frozen=True)
class Region:
    """The sizes that a graph holds for: where all its conditions are true."""

    conditions: tuple[str, ...]
    """Python expressions of dims."""

    def __str__(self) -> str:
        """Return `h >= 7 and w < 9`; `any sizes` without conditions."""
        return " and ".join(self.conditions) or "any sizes"


@dataclass(frozen=True)
class Grid:
    """The sizes of dims: all combinations, or many that are spread over them."""

    sizes: Mapping[str, tuple[int, ...]]

    @staticmethod
    def of(dims: Mapping[str, Dim], most: int = MOST_COMBINATIONS) -> Grid:
        """Return the grid of the dynamic ones of these dims."""
        names = [name for name, dim in dims.items() if is_dynamic(dim)]
        shares = shares_of([in_spread_order(dims[name]) for name in names], most)
        return Grid({name: tuple(own) for name, own in zip(names, shares, strict=True)})

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        return dict(zip(self.sizes, np.ix_(*map(np.array, self.sizes.values())), strict=True))

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(own) for own in self.sizes.values())

    def where(self, condition: str) -> Array:
        """Return where a condition is true, bool, one axis for each dim."""
        try:
            return np.broadcast_to(holds(condition, self._arrays), self._shape)
        except (TypeError, ValueError, NameError, AttributeError):
            code = compiled(condition)
            found = [holds_at(code, self._at(place)) for place in np.ndindex(self._shape)]
            return np.array(found).reshape(self._shape)

    def inside(self, region: Region) -> Array:
        """Return where all conditions of a region are true."""
        true = np.ones(self._shape, bool)
        for condition in region.conditions:
            true &= self.where(condition)
        return true

    def contains(self, region: Region, sizes: Mapping[str, int]) -> bool:
        """Return whether all conditions of a region are true at these sizes."""
        own = {name: sizes[name] for name in self.sizes}
        return all(holds_at(compiled(condition), own) for condition in region.conditions)

    def outside(self, regions: Sequence[Region]) -> Array:
        """Return the sizes that no region contains."""
        left = np.ones(self._shape, bool)
        for region in regions:
            left &= ~self.inside(region)
        return left

    def fewest(self, regions: Sequence[Region]) -> int:
        """Return how many graphs there must be at least if others hold for as few sizes as these.

        Three loops over a dim that are unrolled, each for one size of it, leave no hope for others.
        """
        if len(regions) < _ENOUGH:
            return len(regions)
        inside = [self.inside(region) for region in regions]
        axes = range(len(self.sizes))
        others = [tuple(other for other in axes if other != axis) for axis in axes]
        return max(
            len(own) if all(one.any(axis=rest).sum() == 1 for one in inside) else len(regions)
            for own, rest in zip(self.sizes.values(), others, strict=True)
        )

    def typical(self, left: Array) -> dict[str, int] | None:
        """Return the most ordinary sizes of those that are left; None if there are none.

        Sizes from 2 on that differ from each other, in the middle by their product: conditions
        that belong to the ends of a range are least likely there.
        """
        places = np.argwhere(left)
        if not len(places):
            return None
        axes = [np.array(own)[places[:, axis]] for axis, own in enumerate(self.sizes.values())]
        chosen = np.stack(axes, 1)
        special = (chosen < 2).sum(1) + (np.diff(np.sort(chosen, 1), axis=1) == 0).sum(1)  # noqa: PLR2004
        ordinary = np.flatnonzero(special == special.min())
        volumes = chosen[ordinary].astype(np.float64).prod(1)
        middle = ordinary[np.argsort(volumes, kind="stable")[len(ordinary) // 2]]
        return self._at(places[middle])

    def spread(self, inside: Array, most: int) -> list[dict[str, int]]:
        """Return sizes of those inside, the smallest and the largest among them."""
        places = np.argwhere(inside)
        some = np.linspace(0, len(places) - 1, min(len(places), MOST_SORTED)).astype(int)
        chosen = sorted((self._at(place) for place in places[some]), key=_volume)
        if len(chosen) <= most:
            return chosen
        return [chosen[(len(chosen) - 1) * step // (most - 1)] for step in range(most)]

    def _at(self, place: Sequence[int] | Array) -> dict[str, int]:
        return {
            name: own[int(index)]
            for (name, own), index in zip(self.sizes.items(), place, strict=True)
        }


def _volume(sizes: Mapping[str, int]) -> float:
    return float(np.prod([float(size) for size in sizes.values()]))
