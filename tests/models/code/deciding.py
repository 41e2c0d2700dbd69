"""Models that decide by values in ways that torch.jit.script does not compile."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Rule = Callable[[Tensor], Tensor]


class Rotation(nn.Module):
    """Rodrigues' rotation: small angles have a formula of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(3))

    def forward(self, x: Tensor) -> Any:  # noqa: ANN401 - without a type, as users write it
        angle = (x[0] * self.scale).norm()
        if angle < 0.5:
            return x * 2
        axis = x[0] / angle
        return x * torch.cos(angle) + torch.cross(axis.expand_as(x), x, dim=-1) * torch.sin(angle)


class Nested(nn.Module):
    """Decides by an item, by equality and by a lambda, one within the other."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(3, 3)
        self.rule: Rule = lambda y: y.sum() > 0

    def forward(self, x: Tensor) -> Tensor:
        encoded: Tensor = self.encode(x)
        if torch.equal(x, x.flip(0)):
            return encoded * 3
        first = x[0, 0].item()
        if first > 0.1 and self.rule(x):
            return encoded * first
        return encoded - math.sqrt(abs(float(first)))


class DecidesTwice(nn.Module):
    """Asks the same question twice: two of four paths cannot be reached."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(3, 3)
        self.rule: Rule = lambda y: y.mean() > 0

    def forward(self, x: Tensor) -> Tensor:
        encoded: Tensor = self.encode(x)
        encoded = encoded * 2 if self.rule(encoded) else encoded
        return encoded + 1 if self.rule(self.encode(x)) else encoded


class Smallest(nn.Module):
    """Python's min and max of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor) -> Tensor:
        sums = list((x[:3] * self.scale).sum(1))
        return torch.stack([min(sums), max(sums, key=abs)])


class UntilSmall(nn.Module):
    """A loop that ends by values: there is no last path."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))
        self.rule: Rule = lambda y: y.abs().max() > 1

    def forward(self, x: Tensor) -> Tensor:
        while self.rule(x):
            x = x / 2
        return x * self.scale


class OtherType(nn.Module):
    """Returns integers on one side."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))
        self.rule: Rule = lambda y: y.abs().max() > 1

    def forward(self, x: Tensor) -> Tensor:
        return x.long() if self.rule(x) else x * self.scale
