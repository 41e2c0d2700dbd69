"""Models that a tracer gets wrong because of branches and loops that depend on values."""

import torch
from torch import Tensor, nn


class Branch(nn.Module):
    """Which way depends on the values."""

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x * 2
        return x - 1


class BranchInline(nn.Module):
    """The same as an expression, on a Python bool, in a nested call."""

    def pick(self, x: Tensor) -> float:
        return 3.0 if bool((x > 1).any()) else -1.0

    def forward(self, x: Tensor) -> Tensor:
        return x * self.pick(x)


class BranchOfBranches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.small = nn.Linear(4, 4)
        self.large = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        if x.abs().max() > 2:
            if x.mean() > 0:
                x = self.large(x)
            else:
                x = self.large(-x)
        else:
            x = self.small(x)
        return x


class BranchUnscriptable(nn.Module):
    """A data-dependent branch in a model that TorchScript cannot compile."""

    def forward(self, x: Tensor, *rest: Tensor) -> Tensor:
        names = {"up": lambda v: v + 1, "down": lambda v: v - 1}
        return names["up" if x.sum() > 0 else "down"](x)


class BranchOnNothing(nn.Module):
    """Whether a mask selects anything."""

    def forward(self, x: Tensor) -> Tensor:
        chosen = x[x > 1]
        if chosen.numel() > 0:
            return chosen.sum()
        return x.min()


class TripCount(nn.Module):
    """As often as an input says."""

    def forward(self, x: Tensor, times: Tensor) -> Tensor:
        for _ in range(int(times)):
            x = x * 2 + 1
        return x


class WhileLarge(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while bool(x.abs().max() > 1):
            x = x / 2
        return x


class WhileCounting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        steps = torch.zeros(1)
        while bool(x.norm() > 0.5):
            x = x * 0.7
            steps = steps + 1
            if bool(steps > 6):
                break
        return x + steps
