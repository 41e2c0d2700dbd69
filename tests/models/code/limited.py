"""Small models whose outputs have limits of their own, or name values; tests damage their files."""

from __future__ import annotations

import torch
import torchvision
from torch import Tensor, nn


class ScoresBesidePixels(nn.Module):
    """Boxes of an image of 1,000 pixels, and a score, in one row."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Linear(6, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.sigmoid(self.net(x))
        return torch.cat([1000 * y[:, :4], y[:, 4:]], -1)


class LargeChannel(nn.Module):
    """A map whose first channel is a million times as large as the others."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x[:, :1] * 1e6, torch.sigmoid(x[:, 1:])], 1)


class PriceAndComplement(nn.Module):
    """1 - p beside a price."""

    def forward(self, x: Tensor) -> Tensor:
        p = torch.sigmoid(x)
        return torch.stack([1e6 * (1 + p), 1 - p], -1)


class DoubleBesideFloat(nn.Module):
    """Times in milliseconds beside a network."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Linear(4, 3)

    def forward(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        return t * 1.5 + 0.25, self.net(x)


class HalfTable(nn.Module):
    """A table of float16 beside a function of float32."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("table", torch.rand(16, 4).half())

    def forward(self, ids: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.tanh(x) * 0.3, self.get_buffer("table")[ids].float()


class Masked(nn.Module):
    """Marks one id of a vocabulary, as language models do."""

    def forward(self, ids: Tensor) -> Tensor:
        return torch.where(ids == 102, 1.0, 0.5)


class Rules(nn.Module):
    """A rule for one country and one device."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.where((x[:, 0] == 117) & (x[:, 1] == 3), 1.0, 0.5)


class PoolsAtEnd(nn.Module):
    """Text features where the end-of-sequence id is."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(50_000, 4)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids)
        at = (ids == 49_407).int().argmax(dim=-1)
        pooled: Tensor = x[torch.arange(x.shape[0]), at]
        return pooled


class FarSteps(nn.Module):
    """Whole steps of a size that no ordinary number reaches."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.round(x / 123_457)


class HalfSteps(nn.Module):
    """The same for a dtype that ends at 65,504; the size of a step is a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("step", torch.tensor(5000.0, dtype=torch.float16))

    def forward(self, x: Tensor) -> Tensor:
        return torch.round(x / self.get_buffer("step"))


class Steps(nn.Module):
    """Columns that are rounded to steps of their own; halves go to the even one."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.tensor([0.25, 3.0, 10.0]))

    def forward(self, x: Tensor) -> Tensor:
        return torch.round(x / self.get_buffer("steps"))


class Detector(nn.Module):
    """Boxes and scores of a frame's cells; on a black frame all scores are zero."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.corners = nn.Parameter(torch.rand(12, 2) * 8)

    def forward(self, frame: Tensor) -> tuple[Tensor, Tensor]:
        scores = torch.relu(frame.reshape(-1)[:12])
        boxes = torch.cat([self.corners, self.corners + 3 + frame.mean()], -1)
        kept = torchvision.ops.nms(boxes, scores, 0.3)
        return boxes[kept], scores[kept]


class Ranked(nn.Module):
    """The five highest of scores, which may all be zero."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = torch.relu(x).topk(5, -1)
        return values + 1, places
