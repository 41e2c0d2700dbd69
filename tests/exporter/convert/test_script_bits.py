"""`|`, `^` and `~` of scripted models, of integers and of booleans."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from exporter.convert.scripted import computed

INTEGERS = torch.tensor([5, -3, 0, 2**40 + 9, -(2**62)])


class OfTensors(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        y = x.flip(0)
        return x ^ y, x | y, ~x


class OfNumbers(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return x ^ 12, x | 7, torch.bitwise_xor(x, -1)


class OfBooleans(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return (x > 0) ^ (x > 4), (x < 0) | (x > 4), ~(x > 0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8])
@pytest.mark.parametrize("module", [OfTensors(), OfNumbers(), OfBooleans()])
def test_bits(module: nn.Module, dtype: torch.dtype, tmp_path: Path) -> None:
    x = INTEGERS.to(dtype)
    for got, want in zip(computed(module, x, tmp_path / "m.onnx"), module(x), strict=True):
        np.testing.assert_array_equal(got, want.numpy(), strict=True)
