"""Models that decide by their sizes, as they are found in libraries."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn


class GrowingTable(nn.Module):
    """Rotary positions: a table that forward replaces by a longer one."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(4))
        self._grow(16)

    def _grow(self, length: int) -> None:
        self.length = length
        self.angles = torch.arange(length)[:, None] * torch.tensor([1.0, 0.5, 0.25, 0.125])

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[0]
        if n > self.length:
            self._grow(n)
        angles = self.angles[:n]
        turned: Tensor = x * angles.cos() + x.flip(-1) * angles.sin()
        return turned * self.scale


class CentreCrop(nn.Module):
    """A crop to 7 x 9 that pads smaller pictures, as torchvision computes it."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape
        if w < 9 or h < 7:
            left, top = (9 - w) // 2 if w < 9 else 0, (7 - h) // 2 if h < 7 else 0
            right, bottom = (10 - w) // 2 if w < 9 else 0, (8 - h) // 2 if h < 7 else 0
            x = F.pad(x, [left, right, top, bottom])
            h, w = x.shape
            if (h, w) == (7, 9):
                return x * self.scale
        # As torchvision writes it.
        top, left = int(round((h - 7) / 2.0)), int(round((w - 9) / 2.0))  # noqa: RUF046
        return x[top : top + 7, left : left + 9] * self.scale


class PositionTable(nn.Module):
    """Positions for square grids: as they are for 4 x 4, interpolated for others."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(1, 4, 4, 4))

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[0]
        side = int(math.sqrt(n))
        if n == 16:
            positions: Tensor = self.table
        elif side * side == n:
            positions = F.interpolate(self.table, size=(side, side), mode="bilinear")
        else:
            return x
        return x + positions.flatten(2)[0].t()


class Pieces(nn.Module):
    """The sums of pieces of 7 rows; the last is shorter."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(4))

    def forward(self, x: Tensor) -> Tensor:
        pieces = torch.split(x, 7)
        return torch.stack([piece.sum(0) for piece in pieces]) * self.scale


class EqualDims(nn.Module):
    """Transposes squares."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor) -> Tensor:
        turned = x.t() if x.shape[0] == x.shape[1] else x * 2
        return turned * self.scale


class Share(nn.Module):
    """The middle share of the rows: sizes that Python computes in double."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[0]
        assert isinstance(n, int)
        kept, root = int(n * 0.58), math.sqrt(float(n))
        first = round((n - kept) / 2)
        return x[first : first + kept] * self.scale / root


class OfTypes(nn.Module):
    """Uses `int` as a type, too."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[0]
        assert issubclass(bool, int)
        rows = torch.zeros(4, dtype=int)  # type: ignore[call-overload]
        kept: Tensor = x[: int(n * 0.5)] + rows
        return kept * self.scale


class EachSize(nn.Module):
    """A loop over the rows that no route keeps: another graph for each size."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor) -> Tensor:
        total = x[0] * 0
        for row in range(x.shape[0] + 1):
            if row == x.shape[0]:
                break
            total = torch.sin(total * 0.5 + x[row])
        return total * self.scale


class OtherRank(nn.Module):
    """Drops a dim for long inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor) -> Tensor:
        return (x.sum(0) if x.shape[0] > 20 else x) * self.scale


class OnALine(nn.Module):
    """Another result for few of millions of sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        total = x.sum() * self.scale
        return total * 3 if x.shape[0] + y.shape[0] == 4189 else total + y.sum()


class KeptWindow(nn.Module):
    """Attention with a cache that keeps its first two rows and its last six."""

    def forward(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.shape[1]
        queries = x.view(x.shape[0], tokens, 2, 4).transpose(1, 2)
        keys = torch.cat([past, queries], 2)
        if keys.shape[2] > 8:
            keys = torch.cat([keys[:, :, :2], keys[:, :, -6:]], 2)
        length = keys.shape[2]
        places = torch.arange(length)
        last = places[-tokens:] if tokens <= length else F.pad(places, (tokens - length, 0))
        weights = _turned(queries, last) @ _turned(keys, places).transpose(-1, -2)
        return (weights.softmax(-1) @ keys).transpose(1, 2).reshape(x.shape), keys


def _turned(x: Tensor, places: Tensor) -> Tensor:
    angles = places[:, None] * torch.tensor([1.0, 0.5, 1.0, 0.5])
    first, second = x.chunk(2, -1)
    return x * angles.cos() + torch.cat((-second, first), -1) * angles.sin()
