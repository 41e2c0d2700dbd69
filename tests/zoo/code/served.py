"""Networks that a server may or may not batch."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Classifier(nn.Module):
    """Scores and the class of each row: [n, 3] and [n]."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scores = self.linear(x)
        return scores, scores.argmax(dim=1)


class InTime(nn.Module):
    """A recurrence along the first dim, as LSTMs have it by default."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cumsum(x, dim=0)


class Total(nn.Module):
    """One number for all rows, and whether it is positive."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        total = x.sum()
        return total, total > 0


class Rows(nn.Module):
    """As many rows as are found: a size that no file can state."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.nonzero(x > 0)
