"""Linear and cubic resizing by a factor, against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from modelexport_exporter.decompositions.library import DECOMPOSITIONS

MODES = {"linear": "linear1d", "bilinear": "bilinear2d", "bicubic": "bicubic2d"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("align", [False, True])
@given(size=st.integers(1, 24), rows=st.floats(0.5, 2.2), columns=st.floats(0.5, 2.2))
def test_by_factors(mode: str, align: bool, size: int, rows: float, columns: float) -> None:
    shape = (2, size) if mode == "linear" else (2, size, 9)
    generator = torch.Generator().manual_seed(size)
    x = torch.randn((1, *shape), generator=generator)
    factors = [round(rows, 2), round(columns, 2)][: len(shape) - 1]
    if int(size * factors[0]) < 1:
        return
    expected = functional.interpolate(
        x, scale_factor=tuple(factors), mode=mode, align_corners=align
    )
    function = DECOMPOSITIONS[f"aten::upsample_{MODES[mode]}.vec"].function
    torch.testing.assert_close(
        function(x, None, align, factors), expected, rtol=1e-5, atol=1e-5, equal_nan=True
    )


@pytest.mark.parametrize(
    ("size", "factor", "needed"),
    [
        pytest.param(8, 1.1, True, id="the size stays"),
        pytest.param(20, 1.1, False, id="the size grows"),
        pytest.param(8, 1.0, False, id="by one"),
        pytest.param(50, 0.58, True, id="another size in float32"),
        pytest.param(51, 0.58, False, id="the same size in float32"),
    ],
)
def test_other_sizes_are_left_to_resize(size: int, factor: float, needed: bool) -> None:
    entry = DECOMPOSITIONS["aten::upsample_bilinear2d.vec"]
    assert entry.applies(torch.zeros(1, 1, size, 20), None, False, [factor, 2.0]) is needed
