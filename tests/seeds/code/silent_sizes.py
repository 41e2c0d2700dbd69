"""Models that an export gets wrong at some sizes or in some branches only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class OneSizeDiffers(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2 if x.shape[0] == 50 else x - 1


class EqualSizesDiffer(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        if x.shape[0] != y.shape[0]:
            return x.sum() + y.sum()
        return (x * y).sum()


class PadsToEight(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] % 8 == 0:
            return x * 3
        return F.pad(x, (0, 0, 0, -x.shape[0] % 8))


class LongInputsDiffer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > 100:
            return x[:100] * 2
        return x


class KeepsShare(nn.Module):
    """58 % of the rows: int() of a product in double."""

    def forward(self, x: Tensor) -> Tensor:
        return x[: int(x.shape[0] * 0.58)]


class ResizesByFactor(nn.Module):
    def __init__(self, recompute: bool = False) -> None:
        super().__init__()
        self.recompute = recompute

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(
            x,
            scale_factor=0.58,
            mode="bilinear",
            align_corners=False,
            recompute_scale_factor=self.recompute,
        )


class RoundsSizes(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        rows = round(x.shape[0] / 3 * 1.1 + 0.5)
        return x.new_ones(rows, 2) * x.sum()


class ScalesLargeValues(nn.Module):
    """A branch on values that random samples take one side of only."""

    def forward(self, x: Tensor) -> Tensor:
        if x.abs().max() > 400:
            return x / 400
        return x


class LooksForId(nn.Module):
    def forward(self, ids: Tensor) -> Tensor:
        if 777 in ids.tolist():
            return ids * 2
        return ids + 1


class NormalisesBytes(nn.Module):
    """Any random image over [0, 255] has a value above 1."""

    def forward(self, img: Tensor) -> Tensor:
        if img.max() > 1:
            img = img / 255
        return img * 2 - 1


class ComparesWithItself(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("usual", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        if torch.equal(x, self.usual):
            return x + 1
        return x * 2


def checked(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Replace infinities, as a decorator of a training framework does."""

    def inner(self: Any, x: Tensor) -> Tensor:
        if torch.isinf(x).any():
            x = torch.nan_to_num(x)
        return function(self, x)

    return inner


class Decorated(nn.Module):
    @checked
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class ShapeDependsOnBatch(nn.Module):
    """A step of a recurrent network whose state is made for the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        state = torch.zeros(x.size(0), 4)
        state = self.cell(x, state)
        return state, state.sum(dim=1, keepdim=True)


class Script(nn.Module):
    """A scripted step that loops: the exporter infers its shapes from the example."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        state = torch.zeros(x.size(0), 1)
        for step in range(int(x.size(1))):
            if bool(x[:, step].sum() > 0):
                state = torch.cat([state[:, :0], x[:, step : step + 1]], dim=1)
        return state, x * 2
