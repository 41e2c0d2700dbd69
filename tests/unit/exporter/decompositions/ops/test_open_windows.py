"""Pools by gathered windows: the same as torch's at every combination of options."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from modelexport_exporter.decompositions.ops.open_windows import (
    adaptive_max_open,
    average_open_windows,
    max_open_windows,
)

OPTIONS: list[tuple[Any, ...]] = [
    (kernel, stride, padding)
    for kernel, stride, padding in product((2, 3, (3, 2), 4), (None, 1, 2, (3, 1)), (0, 1))
]


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("size", [(5, 9), (8, 7), (11, 4)])
def test_as_torch(size: tuple[int, int], ceil_mode: bool) -> None:
    x = torch.randn(2, 3, *size)
    for kernel, stride, padding in OPTIONS:
        expected = F.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil_mode)
        assert torch.equal(max_open_windows(x, 2, kernel, stride, padding, 1, ceil_mode), expected)
        for counted, divisor in ((True, None), (False, None), (True, 3)):
            average: tuple[Any, ...] = (kernel, stride, padding, ceil_mode, counted, divisor)
            torch.testing.assert_close(
                average_open_windows(x, 2, *average), F.avg_pool2d(x, *average)
            )


def test_dilated() -> None:
    x = torch.randn(2, 9, 11)
    assert torch.equal(max_open_windows(x, 2, 3, 2, 1, 2), F.max_pool2d(x, 3, 2, 1, 2))


def test_integers() -> None:
    x = torch.randint(-90, 0, (1, 9, 11), dtype=torch.int32)
    assert torch.equal(
        max_open_windows(x, 2, 3, 2, 1).int(), F.max_pool2d(x.double(), 3, 2, 1).int()
    )


@pytest.mark.parametrize("size", range(3, 14))
def test_windows_of_equal_shares(size: int) -> None:
    x = torch.randn(2, size, size + 1)
    for wished in range(1, size + 3):
        assert torch.equal(adaptive_max_open(x, 2, wished), F.adaptive_max_pool2d(x, wished))
