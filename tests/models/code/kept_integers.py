"""Models that compute sizes with integers which they keep in tensors, or branch by flags."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn


def kept(number: int) -> nn.Buffer:
    return nn.Buffer(torch.tensor(number))


class Padded(nn.Module):
    """A convolution whose padding fills the last frame, as audio codecs compute it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv1d(1, 3, 7, 2)
        self.kernel, self.stride, self.total = kept(7), kept(2), kept(5)
        self.least = kept(0)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[-1]
        frames = (length - self.kernel + self.total) / self.stride + 1
        frames = torch.ceil(frames).to(torch.int64) - 1
        ideal = frames * self.stride + self.kernel - self.total
        x = F.pad(x, (self.total, max(ideal - length, self.least)))  # type: ignore[arg-type]
        padded: Tensor = self.conv(x)
        return padded


class Windows(nn.Module):
    """Means of windows, the last of which is cut off."""

    def __init__(self) -> None:
        super().__init__()
        self.window = kept(4)

    def forward(self, x: Tensor) -> Tensor:
        count = (x.shape[-1] // self.window).item()
        whole = count * self.window
        return x[..., :whole].unfold(-1, self.window, self.window).mean(-1)  # type: ignore[arg-type]


class Rest(nn.Module):
    """The rest after whole windows, and the smaller of two sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.window, self.most = kept(5), kept(6)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        length = x.shape[-1] + 0 * self.window
        rest = length % self.window
        most = torch.minimum(length, self.most)
        quotient = torch.div(length, self.window, rounding_mode="floor")
        return x[..., : rest + 1], x[..., : most + 0 * quotient] * -quotient


class Plain(nn.Module):
    """A tensor that is no buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.margin = torch.tensor(2)

    def forward(self, x: Tensor) -> Tensor:
        return x[..., self.margin : x.shape[-1] - self.margin]


class Flags(nn.Module):
    """Initialized at the first call, if no checkpoint says that it was: four ways to keep that."""

    def __init__(self) -> None:
        super().__init__()
        self.fitted = nn.Buffer(torch.BoolTensor([True]))
        self.started = nn.Buffer(torch.Tensor([1]))
        self.version = nn.Buffer(torch.tensor([2], dtype=torch.uint8))
        self.frozen = nn.Buffer(torch.tensor(0.0))
        self.scale = nn.Buffer(torch.tensor([0.5]))

    def forward(self, x: Tensor) -> Tensor:
        if not self.fitted or not self.started:
            self.scale.copy_(x.mean())
        if self.version > 1 and not self.frozen:
            x = x + self.version
        return x * self.scale
