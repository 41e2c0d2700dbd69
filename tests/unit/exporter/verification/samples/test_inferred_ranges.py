"""Ranges of integers, searched by what a model accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.verification.samples.inferred_ranges import (
    WIDEST,
    WIDEST_EXACT,
    infer_ranges,
    needs_ranges,
)

Accepts = Callable[[Mapping[str, Any]], bool]


def spec(**entry: Any) -> ModelExportSpec:  # noqa: ANN401
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///model.pt"},
            "model": {"factory": "a:b"},
            "inputs": [{"name": "ids", "dtype": "int64", "shape": ["n"], **entry}],
            "dims": {"n": {"min": 1, "max": 64}},
            "destination": {"uri": "file:///out/"},
        }
    )


def between(low: int, high: int) -> Accepts:
    return lambda arrays: bool((arrays["ids"] >= low).all() and (arrays["ids"] <= high).all())


@pytest.mark.parametrize(
    ("accepts", "expected"),
    [
        (between(0, 29_999), (0, 29_999)),
        (between(-7, 299), (-7, 299)),
        (between(1, 64), (1, 64)),
        (between(-(2**40), 2**40), (-WIDEST, WIDEST)),
        (between(0, 0), (0, 0)),
    ],
)
def test_range_is_what_the_model_accepts(accepts: Accepts, expected: tuple[int, int]) -> None:
    inferred = infer_ranges(spec(), accepts)
    assert inferred.inputs[0].range == [*expected]


def test_range_shrinks_until_mixed_values_are_accepted() -> None:
    inferred = infer_ranges(spec(), lambda arrays: int(arrays["ids"].sum()) < 1000)
    entry = inferred.inputs[0]
    assert entry.range is None or entry.range[1] < 1000


def test_a_model_that_accepts_nothing_is_tried_with_0_and_1() -> None:
    inferred = infer_ranges(spec(), lambda _: False)
    assert inferred.inputs[0].range is None


def test_late_search_keeps_what_it_found() -> None:
    times = iter(range(0, 10_000, 2))
    inferred = infer_ranges(spec(), between(0, 2**30), clock=lambda: float(next(times)))
    found = inferred.inputs[0].range
    assert found is not None
    assert found[1] >= 1


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, True),
        ({"range": [0, 5]}, False),
        ({"dtype": "bool"}, False),
        ({"dtype": "float32"}, False),
    ],
)
def test_only_integers_without_a_range_need_one(entry: dict[str, Any], expected: bool) -> None:
    assert needs_ranges(spec(**entry)) is expected


@pytest.mark.parametrize(("exact", "widest"), [((), WIDEST), (("ids",), WIDEST_EXACT)])
def test_exact_integers_have_the_range_of_their_dtype(exact: tuple[str, ...], widest: int) -> None:
    inferred = infer_ranges(spec(), lambda _: True, lambda _: exact)
    assert inferred.inputs[0].range == [-widest, widest]
