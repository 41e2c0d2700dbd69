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


class Controlled(nn.Module):
    """A switch within a loop over the rows, and gains that are numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor, gain: float, limited: bool) -> Tensor:
        total, rows = torch.zeros_like(x[0]), []
        previous: Tensor | None = None
        for row in x.unbind(0):
            step = 0 if previous is None else row - previous
            total = total + row * self.scale
            if limited:
                total = total.clamp(-1.0, 1.0)
            rows.append(total * gain + step)
            previous = row
        return torch.stack(rows)


class Turned(nn.Module):
    """Turns rows by an angle that is a number."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor, angle: float, mirrored: bool) -> Tensor:
        cos, sin = math.cos(angle), math.sin(angle)
        turn = torch.tensor([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]], dtype=x.dtype)
        return x @ turn * self.scale * (-1 if mirrored else 1)


class Exits(nn.Module):
    """As many layers as a number says."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))

    def forward(self, x: Tensor, depth: int, rectified: bool) -> Tensor:
        for layer in self.layers[:depth]:
            x = layer(x).relu() if rectified else layer(x)
        return x
