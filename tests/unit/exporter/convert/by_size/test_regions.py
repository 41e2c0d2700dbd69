"""Which sizes are covered, and which are next."""

from __future__ import annotations

import pytest

from modelexport_api.spec import Dim
from modelexport_exporter.convert.by_size.regions import Grid, Region
from modelexport_exporter.convert.size_guards import Condition, failing_at

DIMS = {"h": Dim(min=1, max=20), "w": Dim(min=1, max=30), "c": Dim(min=3, max=3)}
GRID = Grid.of(DIMS)


def test_only_dynamic_dims_are_in_the_grid() -> None:
    assert {name: sorted(own) for name, own in GRID.sizes.items()} == {
        "h": list(range(1, 21)),
        "w": list(range(1, 31)),
    }


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        ((), 600),
        (("h < w",), 390),
        (("h < w", "w <= 7"), 21),
        (("h == w",), 20),
        (("h.bit_length() < 3",), 90),
    ],
)
def test_a_region_is_where_all_conditions_hold(conditions: tuple[str, ...], count: int) -> None:
    assert GRID.inside(Region(conditions)).sum() == count
    assert GRID.outside([Region(conditions)]).sum() == 600 - count


def test_the_next_sizes_are_ordinary_ones_that_no_graph_holds_for() -> None:
    regions = [Region(("h >= 7",))]
    following = GRID.typical(GRID.outside(regions))
    assert following is not None
    assert 2 <= following["h"] < 7
    assert following["w"] not in {1, following["h"]}


def test_without_sizes_that_are_left_there_is_no_next() -> None:
    regions = [Region(("h < w",)), Region(("h >= w",))]
    assert GRID.typical(GRID.outside(regions)) is None


def test_special_sizes_come_where_nothing_else_is_left() -> None:
    assert GRID.typical(GRID.inside(Region(("h == 1", "w == 1")))) == {"h": 1, "w": 1}


def test_large_grids_are_a_spread_part() -> None:
    dims = {name: Dim(min=1, max=100_000) for name in ("a", "b", "c")}
    grid = Grid.of(dims)
    assert grid.inside(Region(())).size <= 1 << 18
    assert all({1, 100_000} <= set(own) for own in grid.sizes.values())
    assert grid.contains(Region(("a < b",)), {"a": 77_777, "b": 77_778, "c": 3})


def test_sizes_to_compare_span_the_region() -> None:
    found = GRID.spread(GRID.inside(Region(("h >= 7", "w <= 9"))), 4)
    assert len(found) == 4
    assert found[0] == {"h": 7, "w": 1}
    assert found[-1] == {"h": 20, "w": 9}


def test_conditions_that_few_of_many_sizes_do_not_fulfil() -> None:
    dims = {"n": Dim(min=1, max=4000), "m": Dim(min=1, max=4000), "k": Dim(min=1, max=9)}
    condition = Condition.on_dims("n + math.floor(m) != 7316")
    assert set(condition.dims) == {"n", "m"}
    found = failing_at(condition, dims)
    assert {"n": 3316, "m": 4000} in found
    assert all(sizes["n"] + sizes["m"] == 7316 for sizes in found)
    assert failing_at(Condition.on_dims("n + m > 0"), dims) == []
    assert Condition.on_dims("1 < 2").dims == ()
