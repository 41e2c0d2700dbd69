from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modelexport_api.reasons import Reason
from modelexport_api.spec import Dim, DType, Input, ModelExportSpec
from modelexport_exporter.core.dims import capture_sizes, concrete_shape
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.verification.samples.drawing import (
    FLOATS,
    NUMPY_DTYPES,
    draw,
    integer_range,
)
from modelexport_exporter.verification.samples.sizes import (
    Sample,
    Values,
    more_samples,
    plan_samples,
    shrink,
    sizes_between,
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


GIVEN = {Values.GOLDEN, Values.SAMPLER, Values.AIMED}
"""What users bring, or the file says: none of it is in the plan."""


def test_the_plan_of_a_sentence_encoder_reads_like_the_rule() -> None:
    sizes = [(sample.dims["batch"], sample.dims["seq"]) for sample in plan_samples(TOKENS)]
    assert list(dict.fromkeys(sizes)) == [
        (1, 1),  # the minimum
        (7, 23),  # in between, primes
        (64, 1),  # each dim alone at its maximum
        (1, 512),
        (7, 1),  # each dim alone in between
        (1, 23),
        (64, 512),  # the maximum
    ]


@given(specs())
def test_every_dim_is_met_at_both_ends_and_never_outside(spec: ModelExportSpec) -> None:
    plan = plan_samples(spec)
    for name, dim in spec.dims.items():
        met = {sample.dims[name] for sample in plan}
        assert {dim.min, dim.max} <= met
        assert all(dim.min <= size <= dim.max for size in met)


@given(specs())
def test_each_dim_moves_alone(spec: ModelExportSpec) -> None:
    lowest = {name: dim.min for name, dim in spec.dims.items()}
    sizes = [sample.dims for sample in plan_samples(spec)]
    for name, dim in spec.dims.items():
        assert {**lowest, name: dim.max} in sizes


@given(specs())
def test_the_maximum_is_in_the_plan_and_seeds_differ(spec: ModelExportSpec) -> None:
    plan = plan_samples(spec)
    assert {name: dim.max for name, dim in spec.dims.items()} in [item.dims for item in plan]
    assert len({sample.seed for sample in plan}) == len(plan)
    more = more_samples(spec)
    assert not {sample.seed for sample in plan} & {sample.seed for sample in more}
    assert {sample.values for sample in (*plan, *more)} == set(Values) - GIVEN


def test_fast_models_meet_every_remainder_of_their_sizes() -> None:
    sizes = [sample.dims["seq"] for sample in more_samples(TOKENS)]
    assert {size % 8 for size in sizes} == set(range(8))
    narrow = spec_of([{"name": "x", "shape": ["n"]}], {"n": {"min": 1, "max": 4}})
    more = [sample.dims["n"] for sample in more_samples(narrow) if sample.values is Values.NORMAL]
    assert set(more) <= {2, 3, 4}


@given(dims_of())
def test_sizes_in_between_lie_strictly_inside_where_there_is_room(dims: dict[str, Dim]) -> None:
    for name, size in sizes_between(dims).items():
        dim = dims[name]
        assert dim.min <= size <= dim.max
        if any(_is_prime(n) for n in range(dim.min + 1, dim.max)):
            assert dim.min < size < dim.max
            assert _is_prime(size)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % n for n in range(2, number))


def test_sizes_in_between_avoid_each_other_and_the_captures() -> None:
    capture = capture_sizes(TOKENS)
    between = sizes_between(
        {"a": Dim(min=1, max=9), "b": Dim(min=1, max=9)}, avoided=capture.values()
    )
    assert between["a"] != between["b"]
    for spec in (TOKENS, spec_of([{"name": "x", "shape": ["n", 8]}], {"n": {"min": 1, "max": 8}})):
        fixed = capture_sizes(spec)
        middle = next(s for s in plan_samples(spec) if s.values is Values.LARGE)
        assert not set(middle.dims.values()) & set(fixed.values())


def test_a_spec_without_dims_still_has_several_seeds_and_all_kinds_of_values() -> None:
    fixed = spec_of([{"name": "x", "shape": [2, 3]}], {})
    plan = plan_samples(fixed)
    assert [sample.dims for sample in plan] == [{}] * len(plan)
    assert [sample.values for sample in plan].count(Values.NORMAL) >= 2
    more = more_samples(fixed)
    assert not {sample.seed for sample in plan} & {sample.seed for sample in more}
    assert {sample.values for sample in (*plan, *more)} == set(Values) - GIVEN


RANGES = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted)


@given(
    dtype=st.sampled_from([dtype for dtype in DType if dtype in FLOATS]),
    declared=RANGES,
    values=st.sampled_from(Values),
    size=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
def test_floats_stay_in_their_range(
    dtype: DType, declared: list[float], values: Values, size: int, seed: int
) -> None:
    entry = Input(name="x", dtype=dtype, shape=["n"], range=declared)
    array = draw([entry], Sample({"n": size}, values, seed))["x"]
    limits = ml_dtypes.finfo(NUMPY_DTYPES[dtype])  # type: ignore[no-untyped-call]
    low, high = np.clip(declared, float(limits.min), float(limits.max)).astype(array.dtype)
    assert array.dtype == NUMPY_DTYPES[dtype]
    assert array.shape == (size,)
    assert np.all(array >= low)
    assert np.all(array <= high)
    if size > 1 and values in {Values.NORMAL, Values.LARGE}:
        assert {float(low), float(high)} <= set(array.astype(float).tolist())


@given(
    dtype=st.sampled_from([dtype for dtype in NUMPY_DTYPES if NUMPY_DTYPES[dtype].kind in "iub"]),
    declared=st.tuples(st.integers(-200, 300), st.integers(0, 300)),
    values=st.sampled_from(Values),
    size=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
def test_integers_stay_in_their_range_and_meet_both_ends(
    dtype: DType, declared: tuple[int, int], values: Values, size: int, seed: int
) -> None:
    low, high = declared[0], declared[0] + declared[1]
    entry = Input(name="x", dtype=dtype, shape=["n"], range=[low, high])
    limits = (0, 1) if dtype is DType.BOOL else _limits(dtype)
    assume(max(low, limits[0]) <= min(high, limits[1]))
    smallest, largest = integer_range(entry)
    array = draw([entry], Sample({"n": size}, values, seed))["x"]
    assert array.dtype == NUMPY_DTYPES[dtype]
    assert all(max(low, smallest) <= int(item) <= min(high, largest) for item in array)
    if size > 1 and values in {Values.NORMAL, Values.LARGE}:
        assert {smallest, largest} <= {int(item) for item in array}


def _limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(NUMPY_DTYPES[dtype])
    return int(limits.min), int(limits.max)


@pytest.mark.parametrize(
    ("dtype", "declared", "expected"),
    [
        pytest.param(DType.INT64, None, (0, 1), id="without a range, 0 and 1"),
        pytest.param(DType.INT64, [0.5, 2.7], (1, 2), id="a fractional range holds whole numbers"),
        pytest.param(DType.UINT8, [-5, 300], (0, 255), id="what the dtype cannot hold is cut"),
        pytest.param(DType.INT64, [-1e30, 1e30], (-(2**63), 2**63 - 1), id="all of int64"),
        pytest.param(DType.BOOL, [0, 5], (0, 1), id="a bool is 0 or 1"),
    ],
)
def test_integer_ranges(
    dtype: DType, declared: list[float] | None, expected: tuple[int, int]
) -> None:
    entry = Input(name="x", dtype=dtype, shape=["n"], range=declared)
    assert integer_range(entry) == expected
    array = draw([entry], Sample({"n": 50}, Values.LARGE, 0))["x"]
    assert {int(item) for item in array} == set(expected)


def test_a_range_without_integers_is_the_users_to_correct() -> None:
    entry = Input(name="x", dtype=DType.INT32, shape=[], range=[0.2, 0.8])
    with pytest.raises(ExportFailure, match="no int32 lies in the range") as caught:
        integer_range(entry)
    assert caught.value.reason is Reason.INVALID_MANIFEST


def test_the_same_sample_draws_the_same_and_another_seed_something_else() -> None:
    sample = Sample({"batch": 7, "seq": 23}, Values.NORMAL, 3)
    first, again = draw(TOKENS.inputs, sample)["ids"], draw(TOKENS.inputs, sample)["ids"]
    other = draw(TOKENS.inputs, Sample(sample.dims, sample.values, 4))["ids"]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_inputs_of_one_shape_differ_from_each_other() -> None:
    inputs = [Input(name="a", shape=[20]), Input(name="b", shape=[20])]
    arrays = draw(inputs, Sample({}, Values.NORMAL, 0))
    assert not np.array_equal(arrays["a"], arrays["b"])


@given(specs(), st.floats(0, 1))
def test_a_shrunk_sample_is_smaller_in_one_dim_and_within_its_range(
    spec: ModelExportSpec, factor: float
) -> None:
    corner = plan_samples(spec)[-1]
    smaller = shrink(corner, spec.dims, factor)
    if smaller is None:
        return
    moved = [name for name in spec.dims if smaller.dims[name] != corner.dims[name]]
    assert len(moved) == 1
    assert spec.dims[moved[0]].min < smaller.dims[moved[0]] < corner.dims[moved[0]]
    assert volume(spec.inputs, smaller.dims) <= math.ceil(volume(spec.inputs, corner.dims) * factor)


def test_the_batch_shrinks_before_the_sequence() -> None:
    corner = plan_samples(TOKENS)[-1]
    smaller = shrink(corner, TOKENS.dims, 0.5)
    assert smaller is not None
    assert smaller.dims == {"batch": 32, "seq": 512}


def test_volume_counts_all_inputs() -> None:
    inputs = [Input(name="a", shape=["n", 3]), Input(name="b", shape=["n"]), Input(name="c")]
    assert volume(inputs, {"n": 5}) == 15 + 5 + 1
    assert concrete_shape(inputs[0], {"n": 5}) == (5, 3)
