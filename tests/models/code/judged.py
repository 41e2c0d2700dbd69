"""Models whose verdict is hard: near ties, NaN, sums that cancel, tables."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class NearTies(nn.Module):
    """The index of the largest of many scores that are equal but for rounding."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(8, 32)

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.encode(x)
        one = features.sum(-1)
        other = features.flip(-1).cumsum(-1)[..., -1]
        return torch.stack([one, other], -1).argmax(-1)


class Cancelling(nn.Module):
    """What rounding leaves of a difference that is zero."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(8, 32)

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.encode(x)
        difference = features.sum(-1) - features.flip(-1).cumsum(-1)[..., -1]
        return difference * 1e6


class SometimesConstant(nn.Module):
    """A normalisation that divides rounding by rounding where its input is constant."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Conv1d(1, 8, 1, bias=False)
        self.norm = nn.GroupNorm(8, 8, eps=1e-12)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(self.encode(x.unsqueeze(1) * 0.1 + 0.3))
        return normed


class FillsGaps(nn.Module):
    """Takes NaN for a value that is missing."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        filled = torch.where(torch.isnan(x), torch.full_like(x, 2.5), x)
        encoded: Tensor = self.encode(filled)
        return encoded


class Threshold(nn.Module):
    """Counts what reaches a threshold that no random number meets."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x: Tensor) -> Tensor:
        return (x >= 0.375).to(torch.float32) * self.scale


class Tokens(nn.Module):
    """Looks rows of a large table up."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(50_000, 8)

    def forward(self, ids: Tensor) -> Tensor:
        rows: Tensor = self.table(ids)
        return rows
