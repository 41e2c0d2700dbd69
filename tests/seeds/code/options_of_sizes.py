"""Options that torch.export takes for constants, made of the sizes of dynamic dims."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class PyramidOfWindows(nn.Module):
    """As many values for each picture: kernel and padding by its size, as in SPP-net."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 6, 3, padding=2, dilation=2)

    def forward(self, x: Tensor) -> Tensor:
        y = self.features(x)
        h, w = y.shape[2:]
        levels = []
        for level in (1, 2, 3):
            kernel = (math.ceil(h / level), math.ceil(w / level))
            margin = ((kernel[0] * level - h + 1) // 2, (kernel[1] * level - w + 1) // 2)
            levels.append(F.max_pool2d(y, kernel, stride=kernel, padding=margin).flatten(1))
            levels.append(F.avg_pool2d(y, kernel, kernel, margin, False, False).flatten(1))
        return torch.cat(levels, 1)


class ExpertsOfCapacity(nn.Module):
    """Experts that take so many tokens and drop the rest, as in the Switch Transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(6, 3)
        self.experts = nn.Parameter(torch.randn(3, 6, 6))

    def forward(self, x: Tensor) -> Tensor:
        capacity = int(math.ceil(x.shape[0] / 3 * 1.25))  # noqa: RUF046 - as users write it
        share, expert = self.gate(x).softmax(-1).max(-1)
        chosen = F.one_hot(expert, 3)
        place = ((chosen.cumsum(0) - 1) * chosen).sum(-1)
        place = torch.where(place < capacity, place, capacity)
        slot = F.one_hot(place, capacity + 1)[:, :capacity]
        sent = (chosen[:, :, None] * slot[:, None]).float()
        inside = torch.einsum("nec,nd->ecd", sent, x)
        y = torch.einsum("ecd,edf->ecf", inside, self.experts)
        return torch.einsum("nec,ecf->nf", sent * share[:, None, None], y)


class SpatialTransformer(nn.Module):
    """A network that turns and scales its own input of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.find = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(2))
        self.angles = nn.Linear(16, 6)
        self.angles.weight.data.mul_(0.1)
        self.angles.bias.data.copy_(torch.tensor([1.0, 0.1, 0, -0.1, 0.9, 0.2]))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        theta = self.angles(self.find(x).flatten(1)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        corners = F.affine_grid(theta, x.size(), align_corners=True)
        return F.grid_sample(x, grid, align_corners=False), corners


class SpectrumOfTheWhole(nn.Module):
    """A window as long as the signal, and the frequency of each bin."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[-1]
        power = torch.fft.rfft(x * torch.hann_window(n)).abs().square()
        bins = torch.fft.rfftfreq(n, 1 / 100)
        tapered = x * torch.hamming_window(n, periodic=False) + torch.bartlett_window(n)
        centre = (power * bins).sum(-1) / power.sum(-1).clamp(min=1e-3)
        return power, centre, tapered, x * torch.blackman_window(n), torch.fft.fftfreq(n)


class PartsBySize(nn.Module):
    """Frames of a quarter, pools to a half, a diagonal from the middle."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[-1]
        near = x[0, :, None] * x[0]
        return (
            x.unfold(-1, n // 4, max(n // 8, 1)).mean(-1),
            F.adaptive_max_pool1d(x[:, None], n // 2),
            F.adaptive_avg_pool1d(x[:, None], n // 2),
            near.diagonal(n // 2),
            torch.diag(near, -(n // 3)),
            torch.diag_embed(x, n // 4),
        )


class PairsOfRows(nn.Module):
    """Interactions of all pairs, a loss over them, distances, triples, both triangles."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Bilinear(4, 4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[0]
        later, earlier = torch.tril_indices(n, n, offset=-1, device=x.device)
        square = torch.zeros(n, n)
        rows, columns = torch.triu_indices(n, n, dtype=torch.int32).long()
        square[columns, rows] = (x @ x.T)[rows, columns]
        return (
            self.score(x[later], x[earlier]),
            F.pdist(x, p=1).view(n * (n - 1) // 2, 1),
            torch.combinations(x[:, 0], 3).prod(1),
            square,
        )
