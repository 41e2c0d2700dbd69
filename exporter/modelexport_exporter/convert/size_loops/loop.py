"""A loop over as many items as a size says: one step for all of them, and torch's `scan` around it.

`Loop` and the functions in `NAMES` are what the source calls that `source` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from modelexport_exporter.convert.size_loops import indexing, source, whiles
from modelexport_exporter.convert.size_loops.body_mode import (
    as_put,
    note_made,
    places_around,
    putting,
    reading,
)
from modelexport_exporter.convert.size_loops.items import Items, as_items, items, rows, times
from modelexport_exporter.convert.size_loops.variables import MISSING, Growing, Variable, plan
from modelexport_exporter.torch_internals.pytree import tensors_in, tree_flatten, tree_map
from modelexport_exporter.torch_internals.scans import not_recorded, number_between, scan

Body = Callable[..., Mapping[str, Any]]
"""From an item and the variables' values to those after it."""


class Loop:
    """A `for`, what it runs over evaluated."""

    def __init__(self, values: Any) -> None:  # noqa: ANN401
        self._values = values
        self._items = as_items(values)
        self.symbolic = self._items is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def kept(self, names: Sequence[str], variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables of these names that there are."""
        return {name: variables[name] for name in names if name in variables}

    def run(
        self,
        body: Body,
        names: Sequence[str],
        grown: Sequence[str],
        used: Sequence[str],
        variables: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Return the variables after the loop. Raises NotOneStep.

        `names`: the body's arguments; `grown`: those to which it appends; `used`: those that are
        used after the loop.
        """
        assert self._items is not None
        before = {name: variables.get(name, MISSING) for name in names}
        try:
            return _Whole(self._items, body, grown, used).run(before, 0, variables)
        except Exception:  # noqa: BLE001 - the first step may be another than the rest
            first = dict(body(self._items.at(0), *_own(before, grown).values()))
            before = {name: _plain(first.get(name, MISSING), before[name]) for name in names}
            return _Whole(self._items, body, grown, used).run(before, 1, first)


def _plain(value: Any, before: Any) -> Any:  # noqa: ANN401
    return [*before, *iter(value)] if isinstance(value, Growing) else value


def _own(before: Mapping[str, Any], grown: Sequence[str]) -> dict[str, Any]:
    """Return the values as a step gets them: tensors that it may change, lists to append to."""
    return {
        name: Growing(value) if name in grown and isinstance(value, list) else _copied(value)
        for name, value in before.items()
    }


def _copied(value: Any) -> Any:  # noqa: ANN401
    return tree_map(lambda leaf: leaf.clone() if isinstance(leaf, Tensor) else leaf, value)


@dataclass(frozen=True)
class _Whole:
    """A loop over all items."""

    over: Items
    body: Body
    grown: Sequence[str]
    used: Sequence[str]

    def run(
        self, before: Mapping[str, Any], first: int, without: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the variables after the steps from `first` on. Raises NotOneStep.

        `without`: the variables where there are no such steps.
        """
        size = self.over.count
        with not_recorded(size):
            passed = _own(before, self.grown)
            with reading(tensors_in(list(passed.values()))) as seen:
                item = self.over.at(number_between(first, size))
                after = self.body(item, *passed.values())
        variables = plan(before, passed, after, self.used, seen.used, without=without)
        carried = [one for variable in variables for one in variable.initial]

        def step(
            place: Any,  # noqa: ANN401
            state: Sequence[Tensor],
            read: Sequence[Any],
        ) -> tuple[list[Tensor], list[Tensor]]:
            values = _values(variables, [one.clone() for one in state])
            given = [values.get(name, MISSING) for name in before]
            with putting(dict(zip(seen.read, read, strict=False)), place):
                result = self.body(self.over.at(place), *given)
                return _carried_on(variables, result), _results(variables, result)

        reads = [*(as_put(one) for one in seen.read.values()), *places_around()]
        last, results = scan(step, carried, first, size, reads)
        note_made([*last, *results])
        return _after(variables, last, results)


def _values(variables: Sequence[Variable], state: Sequence[Tensor]) -> dict[str, Any]:
    rest = iter(state)
    return {own.name: own.value([next(rest) for _ in own.initial]) for own in variables}


def _carried_on(variables: Sequence[Variable], result: Mapping[str, Any]) -> list[Tensor]:
    return [one for own in variables for one in own.carried_on(result.get(own.name, MISSING))]


def _results(variables: Sequence[Variable], result: Mapping[str, Any]) -> list[Tensor]:
    return [
        leaf
        for own in variables
        for element in (iter(result[own.name]) if own.appended else ())
        for leaf in tree_flatten(element)[0]
    ]


def _after(
    variables: Sequence[Variable], last: Sequence[Tensor], results: Sequence[Tensor]
) -> dict[str, Any]:
    carried, stacked = iter(last), iter(results)
    found = {}
    for own in variables:
        state = [next(carried) for _ in own.initial]
        rows_of = [next(stacked) for one in own.appended for _ in range(one.num_leaves)]
        value = own.after(state, rows_of)
        if value is not MISSING:
            found[own.name] = value
    return found


def listed(values: Any, function: Callable[..., Any], single: bool) -> list[Any]:  # noqa: ANN401
    """Return `[function(item) for item in values]`; `single`: the item is its only argument."""
    loop = Loop(values)

    def one(item: Any) -> Any:  # noqa: ANN401
        return function(item) if single else function(*item)

    if not loop.symbolic:
        return [one(item) for item in loop]

    def body(item: Any, found: Any) -> Mapping[str, Any]:  # noqa: ANN401
        found.append(one(item))
        return {"found": found}

    return loop.run(body, ["found"], ["found"], ["found"], {"found": []})["found"]  # type: ignore[no-any-return]


NAMES: Mapping[str, Any] = {
    source.LOOP: Loop,
    whiles.COUNTS: whiles.counts,
    whiles.COUNTED: whiles.counted,
    source.LISTED: listed,
    source.ITEMS: items,
    source.ROWS: rows,
    source.SET: indexing.put,
    source.TIMES: times,
}
