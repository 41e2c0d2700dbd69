"""nextafter against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from decomposed import assert_as_eager

INF, NAN = float("inf"), float("nan")
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, 0.1, -3.7, 1e30, INF, -INF, NAN, 65504.0, 2.0**-14]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_next_number_at_the_edges_is_eagers(dtype: torch.dtype) -> None:
    edges = torch.tensor(EDGES, dtype=torch.float64)
    info = torch.finfo(dtype)
    own = torch.tensor([info.max, -info.max, info.smallest_normal], dtype=torch.float64)
    values = torch.cat([edges, own]).to(dtype)
    x, towards = torch.meshgrid(values, values, indexing="ij")
    assert_bits(x.contiguous(), towards.contiguous())


@given(st.lists(st.floats(width=32), min_size=2, max_size=8))
def test_the_next_number_is_eagers(values: list[float]) -> None:
    x = torch.tensor(values)
    assert_bits(x, x.flip(0))


def assert_bits(x: torch.Tensor, towards: torch.Tensor) -> None:
    assert_as_eager("aten::nextafter", x, towards, rounding=0)
