"""Pools against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

X = torch.randn(2, 3, 8, 7, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (2, 3, 1), (3, 1, 0)]
)
def test_pools_with_a_divisor_are_eagers(
    kernel: int, stride: int, padding: int, ceil_mode: bool
) -> None:
    window = ([kernel], [stride], [padding])
    assert_as_eager("aten::avg_pool2d", X, *window, ceil_mode, True, 5)
    assert_as_eager("aten::avg_pool2d", X[0], *window, ceil_mode, False, 5)
    assert_as_eager("aten::avg_pool3d", X, *window, ceil_mode, True, 5)


@pytest.mark.parametrize("size", [(1, 1), (3, 4), (8, 7), (5, 2), (9, 10)])
def test_adaptive_pools_are_eagers(size: tuple[int, int]) -> None:
    assert_as_eager("aten::adaptive_avg_pool2d", X, size)
    assert_as_eager("aten::adaptive_max_pool2d", X, size)
    assert_as_eager("aten::adaptive_avg_pool3d", X, (2, *size))
    assert_as_eager("aten::adaptive_max_pool3d", X, (2, *size))
    assert_as_eager("aten::adaptive_max_pool1d", X[0], size[:1])
    assert_as_eager("aten::adaptive_avg_pool1d", X[0], size[:1])
