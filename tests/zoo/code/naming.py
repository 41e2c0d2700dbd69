"""Modules whose inner values and outputs collide with names that are asked for."""

from __future__ import annotations

import torch
from torch import nn


class Steps(nn.Module):
    """A graph of mul, relu, sigmoid, mean and add."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(x * self.weight)
        return torch.sigmoid(hidden) + hidden.mean()


class Twice(Steps):
    """Returns a value, the input and a weight, two of them twice."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        value = x * self.weight
        return value, value, x, x, self.weight


class Branches(Steps):
    """Has the same operators on both sides of a branch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.cond(
            x.sum() > 0,
            lambda value: torch.relu(value) + 1,
            lambda value: torch.sigmoid(torch.relu(value)),
            (x * self.weight,),
        )
        return result
