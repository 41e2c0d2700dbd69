"""Divisions of scripted models: exact multiples, either sign, integers, zero, and factors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from exporter.convert.scripted import computed

FLOATS = torch.tensor([1.0, 0.7, -1.3, 2.6, -7.0, 5.5, 331.5, 0.0, -0.1, 12.0])
INTEGERS = torch.tensor([-7, -3, 0, 3, 7, 2**53 + 1, -(2**40) - 1, -(2**63), 2**63 - 1])


class ByNumber(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x // 1.3, x % 0.1


class ByInteger(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x // -3, x % -3


class ByTensor(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.flip(x, [0])
        return x // y, x % y


class Product(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.addcmul(x, x, x, value=-3.3), torch.addcmul(x, x, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("module", [ByNumber(), ByInteger(), ByTensor(), Product()])
def test_floats(module: nn.Module, dtype: torch.dtype, tmp_path: Path) -> None:
    x = FLOATS.double().to(dtype)
    for got, want in zip(computed(module, x, tmp_path / "m.onnx"), module(x), strict=True):
        assert got.dtype == want.numpy().dtype
        np.testing.assert_allclose(got, want.numpy(), rtol=4 * torch.finfo(dtype).eps, atol=1e-16)


@pytest.mark.parametrize("module", [ByInteger(), ByNumber()])
def test_integers(module: nn.Module, tmp_path: Path) -> None:
    x = INTEGERS if isinstance(module, ByInteger) else INTEGERS[:5]
    for got, want in zip(computed(module, x, tmp_path / "m.onnx"), module(x), strict=True):
        assert got.dtype == want.numpy().dtype
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-6 if want.is_floating_point() else 0)
