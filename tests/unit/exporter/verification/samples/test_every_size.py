"""All sizes of all dims, and the sentence about those that were met."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from modelexport_api.spec import Dim
from modelexport_exporter.core.dims import in_spread_order
from modelexport_exporter.verification.samples.every_size import (
    MOST_COMBINATIONS,
    describe_coverage,
    every_size,
    likely_alone,
    sizes_together,
)
from models.specs import spec


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 120), (0, 3), (100, 131), (7, 1000)])
def test_each_size_occurs_once(low: int, high: int) -> None:
    sizes = in_spread_order(Dim(min=low, max=high))
    assert sorted(sizes) == list(range(low, high + 1))


def test_any_beginning_is_spread_over_the_range() -> None:
    begin = sorted(in_spread_order(Dim(min=1, max=1024))[:80])
    gaps = [after - before for before, after in pairwise(begin)]
    assert max(gaps) <= 64


def test_each_dim_takes_each_size_and_two_are_equal() -> None:
    sizes = [sample.dims for sample in every_size(spec(n=(1, 20), m=(1, 10)))]
    assert {entry["n"] for entry in sizes} == set(range(1, 21))
    assert {entry["m"] for entry in sizes} == set(range(1, 11))
    assert any(entry["n"] == entry["m"] == 4 for entry in sizes)


def test_a_dim_is_twice_another_and_one_more() -> None:
    sizes = [sample.dims for sample in islice(every_size(spec(n=(4, 20), m=(8, 40))), 60)]
    assert any(entry["m"] == 2 * entry["n"] for entry in sizes)
    assert any(entry["m"] == entry["n"] + 1 for entry in sizes)
    assert any(entry["n"] == entry["m"] + 1 for entry in sizes)


def test_the_other_dims_are_not_always_at_the_same_size() -> None:
    sizes = [sample.dims for sample in every_size(spec(n=(1, 60), m=(1, 60), k=(3, 9)))]
    assert len({(entry["n"], entry["m"]) for entry in sizes}) > 100
    assert all(3 <= entry["k"] <= 9 for entry in sizes)
    assert all(1 <= entry["m"] <= 60 for entry in sizes)


def test_numbers_that_the_file_compares_with_come_before_those_of_the_code() -> None:
    code = tuple(range(3, 60))
    sizes = [sample.dims for sample in every_size(spec(n=(1, 64), m=(1, 64)), code, (41, 53))]
    assert {"n": 41, "m": 53} in sizes[:4]
    assert {"n": 53, "m": 53} in sizes[:4]


def test_seeds_differ() -> None:
    seeds = [sample.seed for sample in islice(every_size(spec(n=(1, 50))), 40)]
    assert len(set(seeds)) == 40


def test_coverage_counts_sizes() -> None:
    met = [{"n": size, "m": 1} for size in range(1, 21)]
    found = describe_coverage(spec(n=(1, 20), m=(1, 10)), met)
    assert found == ["all 20 sizes of n", "1 of 10 sizes of m"]


def test_numbers_of_the_model_and_powers_of_two_come_first() -> None:
    first = [sample.dims["n"] for sample in islice(every_size(spec(n=(1, 5000)), (777,)), 12)]
    assert first[:3] == [777, 778, 776]
    assert {1, 2, 3, 4, 5} <= set(first)


def test_two_dims_take_numbers_of_the_model_together_first() -> None:
    sizes = [sample.dims for sample in islice(every_size(spec(n=(1, 16), m=(1, 64)), (5, 37)), 12)]
    assert {"n": 5, "m": 5} in sizes
    assert {"n": 5, "m": 37} in sizes


def test_related_sizes_come_before_the_many_numbers_of_the_code() -> None:
    code = tuple(range(3, 60))
    sizes = [sample.dims for sample in islice(every_size(spec(n=(4, 64), m=(8, 64)), code), 6)]
    assert {"n": 4, "m": 8} in sizes
    assert any(entry["n"] == entry["m"] for entry in sizes)


def test_many_rows_come_after_all_sizes_of_small_inputs() -> None:
    sizes = [sample.dims["n"] for sample in every_size(spec(n=(1, 60)))]
    assert sizes[60:] == [60] * 48
    assert len([sample.dims["n"] for sample in every_size(spec(n=(1, 2000)))]) == 2000


def test_all_combinations_of_sizes_occur_where_they_are_few() -> None:
    sizes = [sample.dims for sample in sizes_together(spec(n=(1, 20), m=(3, 12), k=(4, 4)))]
    assert {(entry["n"], entry["m"]) for entry in sizes} == {
        (n, m) for n in range(1, 21) for m in range(3, 13)
    }
    assert len(sizes) == 200


def test_many_combinations_are_random_ones_within_the_ranges() -> None:
    sizes = [sample.dims for sample in sizes_together(spec(n=(1, 4096), m=(7, 4096)))]
    assert len(sizes) == MOST_COMBINATIONS
    assert min(entry["m"] for entry in sizes) >= 7
    assert len({entry["n"] for entry in sizes}) > 4000


def test_a_single_dim_has_no_combinations() -> None:
    assert list(sizes_together(spec(n=(1, 20)))) == []


def test_coverage_says_what_was_compared_at_other_sizes() -> None:
    met = [{"n": 3, "m": size} for size in range(1, 11)]
    found = describe_coverage(spec(n=(1, 512), m=(1, 10)), met, {"n": "shapes at all"})
    assert found == ["1 of 512 sizes of n; shapes at all", "all 10 sizes of m"]


def test_likely_sizes_are_each_alone_and_none_that_ran() -> None:
    ran = [{"n": 1, "m": 1}, {"n": 512, "m": 8}]
    sizes = [sample.dims for sample in likely_alone(spec(n=(1, 512), m=(1, 8)), ran, [100])]
    assert sizes[:3] == [{"n": 100, "m": 1}, {"n": 1, "m": 5}, {"n": 101, "m": 1}]
    met = {entry["n"] for entry in sizes}
    assert {99, 100, 101, 256, 257, 2, 3, 127, 128, 129, 255, 511} <= met
    assert 512 not in met
    assert all(entry["n"] == 1 or entry["m"] == 1 for entry in sizes)
