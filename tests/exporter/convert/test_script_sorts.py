"""Stable sorts of scripted models, which torch's exporter reads as sorts into given tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from exporter.convert.scripted import computed

TIES = torch.tensor([[2.0, 0.0, 2.0, -1.0, 0.0, 2.0], [1.0, 1.0, 1.0, 0.0, -3.0, 1.0]])


class Sorts(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        values, places = torch.sort(x, stable=True, dim=1, descending=True)
        return values, places, torch.sort(x, dim=0)[0]


class Places(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.argsort(x, stable=True), torch.argsort(x[0] + x[1], dim=0, descending=True)


@pytest.mark.parametrize("module", [Sorts(), Places()])
def test_stable_sorts(module: nn.Module, tmp_path: Path) -> None:
    for got, want in zip(computed(module, TIES, tmp_path / "m.onnx"), module(TIES), strict=True):
        np.testing.assert_array_equal(got, want.numpy())
