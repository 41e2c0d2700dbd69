"""Networks whose checkpoints share a graph, or seem to."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Branches(nn.Module):
    """Two linear layers side by side: an optimizer merges their weights where they are equal."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Linear(6, 6)
        self.right = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.left(x)) * self.right(x)


class Tied(nn.Module):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


class Normalized(nn.Module):
    """A convolution and its BatchNorm, which an optimizer folds into one."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x.unsqueeze(1))).flatten(1)


class Scaled(nn.Module):
    """Reads a number out of its weights when they are loaded: the graph has it as a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.scale = 1.0

    def _load_from_state_dict(self, state_dict: dict[str, Any], *rest: Any) -> None:  # noqa: ANN401
        self.scale = float(state_dict["linear.weight"].abs().max())
        super()._load_from_state_dict(state_dict, *rest)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.scale


def branches() -> nn.Module:
    return Branches()


def tied() -> nn.Module:
    return Tied()


def normalized() -> nn.Module:
    return Normalized()


def scaled() -> nn.Module:
    return Scaled()


def wide(width: int) -> nn.Module:
    """A network of any width."""
    return nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 6))


TOKENS = 300_000


def tokens() -> nn.Module:
    """77 MB in one table: too large for the model's own file."""
    return nn.Embedding(TOKENS, 64)
