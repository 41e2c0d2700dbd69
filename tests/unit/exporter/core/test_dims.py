"""Capture sizes: inside the ranges, away from 0 and 1, and different where that is possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.spec import Dim, Input
from modelexport_exporter.core.dims import (
    DimSizes,
    concrete_shape,
    dynamic_size,
    sizes_of,
    used_dims,
)
from zoo.tasks import spec_for

RANGES = st.tuples(st.integers(0, 300), st.integers(0, 300)).map(sorted).filter(lambda r: r[1] > 0)


@given(ranges=st.lists(RANGES, min_size=1, max_size=5))
def test_every_size_is_inside_its_range(ranges: list[list[int]]) -> None:
    dims = {f"d{i}": {"min": low, "max": high} for i, (low, high) in enumerate(ranges)}
    spec = spec_for(inputs=[{"name": "x", "shape": list(dims)}], dims=dims)
    for name, size in DimSizes.of(spec).captured.items():
        assert dims[name]["min"] <= size <= dims[name]["max"]
        assert size > 1 or dims[name]["max"] == 1


@pytest.mark.parametrize(
    ("shape", "dims", "expected"),
    [
        pytest.param(["a", "b"], {"a": (1, 64), "b": (1, 64)}, {"a": 3, "b": 5}, id="distinct"),
        pytest.param(["a", 3], {"a": (1, 64)}, {"a": 5}, id="distinct from constants"),
        pytest.param(["a"], {"a": (1, 2)}, {"a": 2}, id="a narrow range"),
        pytest.param(["a"], {"a": (1, 1)}, {"a": 1}, id="only one size"),
        pytest.param(["a"], {"a": (0, 9)}, {"a": 3}, id="may be empty"),
        pytest.param(
            ["h", "w"], {"h": (32, 512), "w": (32, 512)}, {"h": 32, "w": 64}, id="multiples of min"
        ),
        pytest.param(
            ["a", "b"], {"a": (2, 3), "b": (2, 3)}, {"a": 3, "b": 2}, id="no room but enough"
        ),
        pytest.param(["a", "a - 2"], {"a": (2, 9)}, {"a": 5}, id="what is derived is free, too"),
        pytest.param(
            ["a", "b", "a + b", "c"],
            {"a": (1, 9), "b": (1, 9), "c": (8, 9)},
            {"a": 3, "b": 5, "c": 9},
            id="a sum is free, too",
        ),
        pytest.param(["a", "b", "2 * a"], {"a": (1, 9), "b": (6, 9)}, {"a": 3, "b": 7}, id="twice"),
    ],
)
def test_sizes(
    shape: list[int | str], dims: dict[str, tuple[int, int]], expected: dict[str, int]
) -> None:
    spec = spec_for(
        inputs=[{"name": "x", "shape": shape}],
        dims={name: {"min": low, "max": high} for name, (low, high) in dims.items()},
    )
    assert DimSizes.of(spec).captured == expected
    assert used_dims(spec.inputs) == list(dims)
    assert concrete_shape(spec.inputs[0], expected) == tuple(
        size if isinstance(size, int) else eval(size, dict(expected)) for size in shape
    )


def test_dims_of_one_size_are_numbers_in_an_expression() -> None:
    dims = {"a": Dim(min=4, max=4), "b": Dim(min=1, max=9)}
    assert dynamic_size(3, dims) == 3
    assert dynamic_size("a - 1", dims) == 3
    assert str(dynamic_size("a + b", dims)) == "b + 4"
    assert str(dynamic_size("2 * b", dims)) == "2 * b"


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ({"x": (5,), "both": (8,)}, {"a": 5, "b": 3}),  # b is in no other shape
        ({"both": (8,)}, {}),
        ({"x": (5,), "both": (8, 1)}, {"a": 5}),
    ],
)
def test_sizes_of_arrays(shapes: dict[str, tuple[int, ...]], expected: dict[str, int]) -> None:
    inputs = [Input(name="both", shape=["a + b"]), Input(name="x", shape=["a"])]
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    assert sizes_of(inputs, arrays) == expected
