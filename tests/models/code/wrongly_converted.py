"""Models that torch.onnx converts without an error into files that compute something else."""

from __future__ import annotations

import torch
from torch import nn


class ScaledElu(nn.Module):
    """aten.elu with scale and input_scale: the torch.export route drops both."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return elu of a linear layer; x is [batch, 8]."""
        result: torch.Tensor = torch.ops.aten.elu(self.linear(x), 1.5, 2.0, 0.5)
        return result


class DividedPool(nn.Module):
    """avg_pool2d with divisor_override: both routes divide by the window's size instead."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return sums over windows of 2x2, divided by 3; x is [batch, 1, 8, 8]."""
        return nn.functional.avg_pool2d(self.conv(x), 2, divisor_override=3)


def scaled_elu() -> nn.Module:
    """Return a ScaledElu."""
    return ScaledElu()


def divided_pool() -> nn.Module:
    """Return a DividedPool."""
    return DividedPool()
