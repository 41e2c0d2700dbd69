"""Models that no route converts rightly: a plugin's mistake, and a number that capture fixes."""

from __future__ import annotations

from typing import Any

import torch
from onnxscript import opset20 as op
from torch import nn


class Sine(nn.Module):
    """aten.sin, which this module, used as a plugin, translates as a cosine."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the sine of a linear layer; x is [batch, 8]."""
        return torch.sin(self.linear(x))


class Normalised(nn.Module):
    """Divides by a deviation that NumPy computes: a trace keeps that of its own values."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a linear layer divided by its deviation; x is [batch, 8]."""
        y: torch.Tensor = self.linear(x)
        return y / float(y.detach().numpy().std())


def _cosine(x: Any) -> Any:  # noqa: ANN401
    return op.Cos(x)


custom_translation_table = {"aten::sin": _cosine}
