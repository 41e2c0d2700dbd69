"""Pools of an element without a batch, traced and run at other sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from traced import assert_exported_as_eager


def wide(x: Tensor) -> Tensor:
    return torch.cat([x, x], 1)


def image(x: Tensor) -> Tensor:
    return wide(x).unsqueeze(0)


def volume(x: Tensor) -> Tensor:
    return image(x).unsqueeze(0).repeat(1, 2, 1, 1)


POOLS: dict[str, Callable[[Tensor], Tensor]] = {
    "avg_pool1d": lambda x: F.avg_pool1d(wide(x), 2),
    "avg_pool2d": lambda x: F.avg_pool2d(image(x), 2),
    "avg_pool3d": lambda x: F.avg_pool3d(volume(x), 2),
    "with ceil_mode": lambda x: F.avg_pool2d(image(x), 3, 2, ceil_mode=True),
    "max_pool1d": lambda x: F.max_pool1d(wide(x), 2),
    "max_pool2d": lambda x: F.max_pool2d(image(x), 3, 2, ceil_mode=True),
    "max_pool3d": lambda x: F.max_pool3d(volume(x), 2),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(wide(x), 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(image(x), 1),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(image(x), 1),
    "lp_pool2d": lambda x: F.lp_pool2d(image(x), 2, 2),
}


@pytest.mark.parametrize("name", POOLS)
def test_without_a_batch(name: str) -> None:
    assert_exported_as_eager(lambda x, _: POOLS[name](x), 11)


def test_indices_too() -> None:
    assert_exported_as_eager(lambda x, _: F.max_pool2d(image(x), 2, return_indices=True), 11)
