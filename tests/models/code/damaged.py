"""Small models whose files tests damage so that they are wrong at few inputs or sizes only."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Scores(nn.Module):
    """Probabilities of rows of numbers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.last(torch.relu(self.first(x))))


class Edges(nn.Module):
    """Values looked up in a table of edges."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("edges", torch.tensor([-1.5, -0.3, 0.2, 0.9]))

    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([edge >= x for edge in self.get_buffer("edges").unbind()], -1).sum(-1)


class Distance(nn.Module):
    """Angles between points, whose norms are limited from below."""

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        norm = a.norm(dim=-1, keepdim=True).clamp(min=1e-8)
        return (a - b).square().sum(-1).sqrt(), a / norm


class Ratings(nn.Module):
    """A score of a user and an item."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.users, self.items = nn.Embedding(50_000, 4), nn.Embedding(50_000, 4)

    def forward(self, user: Tensor, item: Tensor) -> Tensor:
        score: Tensor = (self.users(user) * self.items(item)).sum(-1)
        return score


class Days(nn.Module):
    """Whole days of seconds since 1970."""

    def forward(self, t: Tensor) -> Tensor:
        return torch.floor(t / 86_400.0)


class Means(nn.Module):
    """Means of images."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3))


class LongSums(nn.Module):
    """Sums of squares of images, and of numbers of both signs."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x.square().sum(-1).sqrt(), (x - 127.5).mean(-1)


class Groups(nn.Module):
    """A group norm of two channels whose biases are nearly equal."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.norm = nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(4, 8)
        with torch.no_grad():
            self.conv.bias.copy_(torch.arange(8) * 1e-4 + 0.3)  # type: ignore[union-attr]

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.norm(self.conv(x)))


class Buckets(nn.Module):
    """A bucket of ten, and whether a number is at least a quarter."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return (x * 10).clamp(-5, 5).long(), x >= 0.25


class Stacked(nn.Module):
    """A price beside the complement of a probability, along a first dim of two."""

    def forward(self, x: Tensor) -> Tensor:
        p = torch.sigmoid(x)
        return torch.stack([1e6 * (1 + p), 1 - p])


class Frames(nn.Module):
    """Whether a frame of 768 numbers is dark, and its mean."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean = x.mean((1, 2, 3))
        return torch.where((mean > 0.015) & (mean < 0.03), 1.0, 0.0), mean
