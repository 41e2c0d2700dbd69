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


def rows(sizes: Mapping[str, int], seed: int) -> dict[str, Tensor]:
    """Return rows of the sampler's own."""
    generator = torch.Generator().manual_seed(seed)
    return {"x": torch.rand(sizes["n"], 4, generator=generator)}
