from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.spec import Dim, Input, ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, concrete_shape, sizes_between
from modelexport_exporter.core.sample import ORDINARY, Values
from modelexport_exporter.verification.samples.sizes import (
    more_samples,
    plan_samples,
    shrink,
    volume,
)


def spec_of(inputs: list[dict[str, Any]], dims: dict[str, dict[str, int]]) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///c.pt"},
            "inputs": inputs,
            "dims": dims,
            "destination": {"uri": "file:///o/"},
        }
    )


TOKENS = spec_of(
    [{"name": "ids", "dtype": "int64", "shape": ["batch", "seq"], "range": [0, 30521]}],
    {"batch": {"min": 1, "max": 64}, "seq": {"min": 1, "max": 512}},
)


@st.composite
def dims_of(draw_from: st.DrawFn) -> dict[str, Dim]:
    count = draw_from(st.integers(0, 4))
    dims = {}
    for index in range(count):
        low = draw_from(st.integers(0, 40))
        dims[f"d{index}"] = Dim(min=low, max=low + draw_from(st.integers(int(low == 0), 600)))
    return dims


@st.composite
def specs(draw_from: st.DrawFn) -> ModelExportSpec:
    dims = draw_from(dims_of())
    shape = [*dims, 3]
    return spec_of(
        [{"name": "x", "shape": shape}], {name: dim.model_dump() for name, dim in dims.items()}
    )


NOT_PLANNED = {
    *(Values.GOLDEN, Values.SAMPLER, Values.SOUGHT),
    *(Values.INJECTED, Values.NAMED, Values.SCALED, Values.EACH, Values.LOOKUPS),
}
"""Values from the user or from the ONNX file."""


def test_sizes_of_a_sentence_encoder_are_planned_in_order() -> None:
    sizes = [(sample.dims["batch"], sample.dims["seq"]) for sample in plan_samples(TOKENS)]
    assert list(dict.fromkeys(sizes)) == [
        (1, 1),  # the minimum
        (7, 23),  # in between, primes
        (64, 1),  # each dim alone at its maximum
        (1, 512),
        (7, 1),  # each dim alone in between
        (1, 23),
        (33, 1),  # each dim alone in the middle
        (1, 257),
        (64, 512),  # the maximum
    ]


@given(specs())
def test_every_dim_has_samples_at_both_ends_and_none_outside(spec: ModelExportSpec) -> None:
    plan = plan_samples(spec)
    for name, dim in spec.dims.items():
        sizes = {sample.dims[name] for sample in plan}
        assert {dim.min, dim.max} <= sizes
        assert all(dim.min <= size <= dim.max for size in sizes)


@given(specs())
def test_each_dim_is_planned_alone_at_its_maximum(spec: ModelExportSpec) -> None:
    lowest = {name: dim.min for name, dim in spec.dims.items()}
    sizes = [sample.dims for sample in plan_samples(spec)]
    for name, dim in spec.dims.items():
        assert {**lowest, name: dim.max} in sizes


@given(specs())
def test_plan_has_the_maximum_and_distinct_seeds(spec: ModelExportSpec) -> None:
    plan = plan_samples(spec)
    assert {name: dim.max for name, dim in spec.dims.items()} in [item.dims for item in plan]
    assert len({sample.seed for sample in plan}) == len(plan)
    more = more_samples(spec)
    assert not {sample.seed for sample in plan} & {sample.seed for sample in more}
    assert {sample.values for sample in (*plan, *more)} == set(Values) - NOT_PLANNED


def test_more_samples_have_every_remainder_of_a_size() -> None:
    sizes = [sample.dims["seq"] for sample in more_samples(TOKENS)]
    assert {size % 8 for size in sizes} == set(range(8))
    narrow = spec_of([{"name": "x", "shape": ["n"]}], {"n": {"min": 1, "max": 4}})
    more = [sample.dims["n"] for sample in more_samples(narrow) if sample.values is Values.NORMAL]
    assert set(more) <= {2, 3, 4}


@given(dims_of())
def test_sizes_between_are_strictly_inside_where_possible(dims: dict[str, Dim]) -> None:
    for name, size in sizes_between(dims).items():
        dim = dims[name]
        assert dim.min <= size <= dim.max
        if any(_is_prime(n) for n in range(dim.min + 1, dim.max)):
            assert dim.min < size < dim.max
            assert _is_prime(size)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % n for n in range(2, number))


def test_sizes_between_differ_from_each_other_and_from_the_capture() -> None:
    capture = DimSizes.of(TOKENS).captured
    between = sizes_between(
        {"a": Dim(min=1, max=9), "b": Dim(min=1, max=9)}, avoided=capture.values()
    )
    assert between["a"] != between["b"]
    for spec in (TOKENS, spec_of([{"name": "x", "shape": ["n", 8]}], {"n": {"min": 1, "max": 8}})):
        fixed = DimSizes.of(spec).captured
        middle = next(s for s in plan_samples(spec) if s.values is Values.LARGE)
        assert not set(middle.dims.values()) & set(fixed.values())


def test_spec_without_dims_has_several_seeds_and_all_kinds_of_values() -> None:
    fixed = spec_of([{"name": "x", "shape": [2, 3]}], {})
    plan = plan_samples(fixed)
    assert [sample.dims for sample in plan] == [{}] * len(plan)
    assert [sample.values for sample in plan].count(Values.NORMAL) >= 2
    more = more_samples(fixed)
    assert not {sample.seed for sample in plan} & {sample.seed for sample in more}
    assert {sample.values for sample in (*plan, *more)} == set(Values) - NOT_PLANNED


@given(specs(), st.floats(0, 1))
def test_shrunk_sample_is_smaller_in_one_dim_and_within_its_range(
    spec: ModelExportSpec, factor: float
) -> None:
    corner = plan_samples(spec)[-1]
    smaller = shrink(corner, DimSizes.of(spec).lowest, factor)
    if smaller is None:
        return
    moved = [name for name in spec.dims if smaller.dims[name] != corner.dims[name]]
    assert len(moved) == 1
    assert spec.dims[moved[0]].min < smaller.dims[moved[0]] < corner.dims[moved[0]]
    assert volume(spec.inputs, smaller.dims) <= math.ceil(volume(spec.inputs, corner.dims) * factor)


@pytest.mark.parametrize(
    ("picture", "rows"), [((3, 96, 96), 7), ((3, 224, 224), 3), ((3, 1024, 1024), 2)]
)
def test_kinds_of_values_run_on_fewer_large_pictures(picture: tuple[int, ...], rows: int) -> None:
    images = spec_of([{"name": "x", "shape": ["n", *picture]}], {"n": {"min": 1, "max": 32}})
    sizes = {sample.values: sample.dims["n"] for sample in plan_samples(images)[2:-1]}
    assert sizes[Values.LARGE] == sizes[Values.CONSTANT] == rows
    assert 7 in [sample.dims["n"] for sample in plan_samples(images) if sample.values in ORDINARY]


def test_first_declared_dim_shrinks_first() -> None:
    corner = plan_samples(TOKENS)[-1]
    smaller = shrink(corner, DimSizes.of(TOKENS).lowest, 0.5)
    assert smaller is not None
    assert smaller.dims == {"batch": 32, "seq": 512}


def test_volume_counts_all_inputs() -> None:
    inputs = [Input(name="a", shape=["n", 3]), Input(name="b", shape=["n"]), Input(name="c")]
    assert volume(inputs, {"n": 5}) == 15 + 5 + 1
    assert concrete_shape(inputs[0], {"n": 5}) == (5, 3)
