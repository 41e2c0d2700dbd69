from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from modelexport_exporter.decompositions.library import DECOMPOSITIONS

SIZES = st.integers(1, 70)


@given(SIZES, SIZES, SIZES, SIZES)
def test_the_pixels_are_pytorchs(height: int, width: int, rows: int, columns: int) -> None:
    x = torch.arange(height * width, dtype=torch.float32).reshape(1, 1, height, width)
    function = DECOMPOSITIONS["aten::upsample_nearest2d"].function
    assert torch.equal(function(x, (rows, columns)), functional.interpolate(x, (rows, columns)))


@given(SIZES, st.floats(0.3, 4.0))
def test_by_a_factor(width: int, factor: float) -> None:
    x = torch.arange(width, dtype=torch.float32).reshape(1, 1, width)
    factor = round(factor, 2)
    if int(width * factor) < 1:
        return
    expected = functional.interpolate(x, scale_factor=factor)
    function = DECOMPOSITIONS["aten::upsample_nearest1d"].function
    assert torch.equal(function(x, expected.shape[2:], factor), expected)
    assert torch.equal(
        DECOMPOSITIONS["aten::upsample_nearest1d.vec"].function(x, None, [factor]), expected
    )


@given(st.integers(1, 24), st.floats(0.5, 2.2), st.floats(0.5, 2.2))
def test_images_by_factors(size: int, rows: float, columns: float) -> None:
    x = torch.arange(size * 9, dtype=torch.float32).reshape(1, 1, size, 9)
    factors = [round(rows, 2), round(columns, 2)]
    if int(size * factors[0]) < 1:
        return
    expected = functional.interpolate(x, scale_factor=tuple(factors))
    function = DECOMPOSITIONS["aten::upsample_nearest2d.vec"].function
    assert torch.equal(function(x, None, factors), expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.uint8])
def test_element_types(dtype: torch.dtype) -> None:
    x = torch.arange(14 * 21).reshape(1, 1, 14, 21).remainder(200).to(dtype)
    function = DECOMPOSITIONS["aten::upsample_nearest2d"].function
    assert torch.equal(function(x, (2, 6)), functional.interpolate(x, (2, 6)))


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        pytest.param(((8, 8),), False, id="twice the size"),
        pytest.param(((4, 4),), False, id="as it is"),
        pytest.param(((2, 2),), True, id="half the size"),
        pytest.param(((8, 10),), True, id="two and a half times"),
        pytest.param(((8, 12), 2.0, 3.0), False, id="whole factors"),
        pytest.param(((6, 6), 1.5, 1.5), True, id="one and a half"),
    ],
)
def test_whole_multiples_are_left_to_resize(arguments: tuple[Any, ...], needed: bool) -> None:
    entry = DECOMPOSITIONS["aten::upsample_nearest2d"]
    assert entry.applies(torch.zeros(1, 1, 4, 4), *arguments) is needed
