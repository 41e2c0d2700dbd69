"""Networks that pad to multiples, crop again, and have maps of one row at their smallest size."""

from __future__ import annotations

import logging

import torch
import torch.nn.functional as F
from torch import Tensor, nn

logger = logging.getLogger(__name__)


class Level(nn.Module):
    """Attention within windows of a map that is padded to whole ones, then half the map."""

    def __init__(self, width: int, window: int = 2) -> None:
        super().__init__()
        self.window = window
        self.norm, self.mix = nn.LayerNorm(width), nn.Linear(width, width)
        self.reduce = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        b, h, w, c = x.shape
        k = self.window
        pad_bottom, pad_right = (k - h % k) % k, (k - w % k) % k
        y = F.pad(self.norm(x), (0, 0, 0, pad_right, 0, pad_bottom))
        rows, columns = y.shape[1:3]
        y = y.view(b, rows // k, k, columns // k, k, c).permute(0, 1, 3, 2, 4, 5).contiguous()
        y = y.view(-1, k * k, c)
        y = y + torch.softmax(self.mix(y) @ y.mT, -1) @ y
        windows = int(y.shape[0] / (rows * columns / k / k))
        y = y.view(windows, rows // k, columns // k, k, k, c).permute(0, 1, 3, 2, 4, 5)
        y = y.contiguous().view(windows, rows, columns, c)
        if pad_right > 0 or pad_bottom > 0:
            y = y[:, :h, :w, :].contiguous()
        x = x + y.view(b, h, w, c)
        is_odd = (h % 2 == 1) or (w % 2 == 1)
        if is_odd:
            x = F.pad(x, (0, 0, 0, w % 2, 0, h % 2))
        quarters = [x[:, i::2, j::2, :] for j in range(2) for i in range(2)]
        return self.reduce(torch.cat(quarters, -1))


class Hierarchy(nn.Module):
    """A backbone of three levels."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 3, 3)
        self.levels = nn.ModuleList([Level(8), Level(8)])

    def forward(self, x: Tensor) -> Tensor:
        _, _, h, w = x.shape
        if h % 3 != 0:
            x = F.pad(x, (0, 0, 0, 3 - h % 3))
        if w % 3 != 0:
            x = F.pad(x, (0, 3 - w % 3))
        y = self.patch(x).permute(0, 2, 3, 1)
        for level in self.levels:
            y = level(y)
        return y.permute(0, 3, 1, 2)


class Restored(nn.Module):
    """Two scales of a picture that is padded by reflection to a multiple of 4."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 16, 4, 4), nn.Conv2d(16, 48, 1)

    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[-2:]
        rows, columns = ((h + 4) // 4) * 4, ((w + 4) // 4) * 4
        bottom = rows - h if h % 4 != 0 else 0
        right = columns - w if w % 4 != 0 else 0
        y = F.relu(self.down(F.pad(x, (0, right, 0, bottom), "reflect")))
        return x + F.pixel_shuffle(self.up(y), 4)[:, :, :h, :w]


class Folded(nn.Module):
    """Patches of a map of half the size, mixed and put back; at 8 pixels the map has two rows."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.mix = nn.Conv2d(3, 4, 3, 4, 1), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        b, c, h, w = y.shape
        patches = F.unfold(y, kernel_size=(2, 2), stride=(2, 2)).reshape(b, c, 4, -1)
        mixed = self.mix(patches.transpose(2, 3)).transpose(2, 3).reshape(b, c * 4, -1)
        return F.fold(mixed, output_size=(h, w), kernel_size=(2, 2), stride=(2, 2)) + y


class Returns(nn.Module):
    """The distribution of the action taken in each state, over blocks of the whole batch."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Linear(6, 4 * 5)

    def forward(self, states: Tensor, actions: Tensor) -> Tensor:
        n = states.shape[0]
        blocks = [self.value(states[i : i + n]) for i in range(0, n, n)]
        logits = torch.cat(blocks).view(-1, 4, 5).log_softmax(2)
        return logits[range(n), actions].exp()


class Warns(nn.Module):
    """Samples a picture at learned places, and warns of places that are far away."""

    def __init__(self) -> None:
        super().__init__()
        self.offset, self.mix = nn.Conv2d(3, 2, 3, padding=1), nn.Conv2d(3, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        offset = self.offset(x).permute(0, 2, 3, 1)
        mean = torch.mean(torch.abs(offset))
        if mean > 50:
            logger.warning("Offset abs mean is %s, larger than 50.", mean)
        theta = torch.eye(2, 3).expand(x.shape[0], 2, 3)
        grid = F.affine_grid(theta, list(x.shape), align_corners=False)
        return self.mix(F.grid_sample(x, grid + offset.tanh() / 4, align_corners=False))
