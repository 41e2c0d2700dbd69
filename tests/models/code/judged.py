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


class MarksPositive(nn.Module):
    """Says of each number whether it is positive, and never thinks of NaN."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.encode(x), x >= 0


class JointRule(nn.Module):
    """Decides by three columns in one row, and by the minute of the day."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(8, 4)

    def forward(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        rule = (x[:, 0] > 0.875) & (x[:, 1] <= -0.7) & (x[:, 2].abs() < 0.0625)
        late = (t // 60) % 1440 >= 1439
        return torch.where(rule.unsqueeze(-1), 1.0, self.encode(x)), late


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
