"""Models that are run before their files are there: the same numbers, in other ways."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

MANY = 5
TOO_MANY = 20


class Plain(nn.Module):
    """A layer."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.net(x)
        return y


class Reading(Plain):
    """Reads a value of many rows."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > MANY and bool(x.isnan().any()):
            return torch.zeros(x.shape[0], 3)
        return super().forward(x)


class Halving(Plain):
    """Loops until its values are small: without end if one is infinite."""

    def forward(self, x: Tensor) -> Tensor:
        while bool(x.abs().max() > 4):
            x = x / 2
        return super().forward(x)


class Failing(Plain):
    """Does not accept as many rows as the spec declares."""

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > TOO_MANY:
            message = "too many rows"
            raise ValueError(message)
        return super().forward(x)


class Counting(Plain):
    """Counts its calls."""

    calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(x)


class Wide(Plain):
    """Has a weight of 32 MiB."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.ones((1 << 23) + 1))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * self.table[0]


class Converting(Plain):
    """Keeps a buffer in the dtype of its numbers."""

    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        if self.scale.dtype is not y.dtype:
            self.scale = self.scale.to(y.dtype)
        return y * self.scale


def rows(sizes: Mapping[str, int], seed: int) -> dict[str, Tensor]:
    """Return rows of the sampler's own."""
    generator = torch.Generator().manual_seed(seed)
    return {"x": torch.rand(sizes["n"], 4, generator=generator)}
