"""Models that are refused as they are declared, or that no file can hold; one class each."""
# mypy: ignore-errors

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class Reflects(nn.Module):
    def forward(self, x):
        return F.pad(x, (8, 8), mode="reflect").mean(-1)


class Convolves(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv1d(1, 4, 9, stride=2)

    def forward(self, x):
        return self.layer(x).mean(-1)


class FixedWidth(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(96, 5)

    def forward(self, x):
        return self.layer(x.reshape(x.shape[0], -1))


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(128, 8))

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class Embeds(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 8)

    def forward(self, ids):
        return self.table(ids).sum(1)


class Product(nn.Module):
    def forward(self, a, b):
        return a @ b


class Pairs(nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0], x.shape[1] // 2, 2, 8).sum(2)


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 16, 16)

    def forward(self, x):
        height, width = x.shape[2:]
        assert height % 16 == 0 and width % 16 == 0, "no multiple of the patch size"
        return self.layer(x).flatten(2).mean(-1)


class Flattens(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(1, 4, 3, stride=2, padding=1)
        self.head = nn.Linear(4 * 14 * 14, 5)

    def forward(self, x):
        return self.head(self.convolution(x).relu().flatten(1))


class Tiles(nn.Module):
    def forward(self, x):
        batch, channels, height, width = x.shape
        return x.view(batch, channels, height // 7, 7, width // 7, 7).mean((3, 5))


class Pixels(nn.Module):
    def forward(self, x):
        if (x < 0).any():
            raise ValueError("pixels must not be negative")
        return x.sqrt()


class TrainsOnOneRow(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, track_running_stats=False)

    def forward(self, x):
        return self.norm(x)


class Channels(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        three = self.layer(x)
        return three.relu()


class TakesTwo(nn.Module):
    def forward(self, x, mask):
        return x * mask


class Misspelled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layr(x)


class NeedsLibrary(nn.Module):
    def forward(self, x):
        import a_library_that_nobody_has

        return a_library_that_nobody_has.rearrange(x)


class ReadsFile(nn.Module):
    def forward(self, x):
        with open("scales.txt") as scales:  # noqa: PTH123
            return x * float(scales.read())


class MovesToGpu(nn.Module):
    def forward(self, x):
        return x.cuda() * 2


class ReturnsText(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return ["abc"[place] for place in self.layer(x).argmax(-1).tolist()]


class ReturnsComplex(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x)


class KeepsSome(nn.Module):
    def forward(self, x):
        return x[x[:, 0] > 0]


class OneOutput(nn.Module):
    def forward(self, x):
        return x * 2


class SeededNoise(nn.Module):
    def forward(self, x):
        torch.manual_seed(7)
        return x + torch.randn_like(x)


class Gumbel(nn.Module):
    def forward(self, x):
        return F.gumbel_softmax(x, tau=0.5, hard=True)


class DropsInTraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        return self.drop(self.layer(x))


class ReadsClock(nn.Module):
    def forward(self, x):
        return x * (time.time() % 10)


class PythonNoise(nn.Module):
    def forward(self, x):
        return x * random.uniform(0.5, 2)


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x / self.calls


STEP = 0


class CountsSteps(nn.Module):
    def forward(self, x):
        global STEP  # noqa: PLW0603
        STEP += 1
        return x / STEP


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        y = x if self.last is None or self.last.shape != x.shape else x + 0.5 * self.last
        self.last = y.detach()
        return y


class KeepsFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {}

    def forward(self, x):
        if x.shape not in self.kept:
            self.kept[x.shape] = x.mean()
        return x - self.kept[x.shape]


class Permutes(nn.Module):
    def forward(self, x):
        return x[:, torch.randperm(12)[:6]]


class TakesGradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        with torch.enable_grad():
            y = x.detach().requires_grad_(True)
            energy = self.layer(torch.tanh(y)).sum()
            (gradient,) = torch.autograd.grad(energy, y)
        return gradient


class ChoosesByHash(nn.Module):
    def forward(self, x):
        scale = float(x.abs().max())
        return x * (hash(str(scale)) % 7)


class LooksUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = {str(number): float(number) ** 0.5 for number in range(10)}

    def forward(self, x, ids):
        return x * torch.tensor([self.table[str(i)] for i in ids.tolist()])[:, None]


class MostCommon(nn.Module):
    def forward(self, ids):
        return torch.tensor([Counter(row).most_common(1)[0][0] for row in ids.tolist()])


class Singular(nn.Module):
    def forward(self, x):
        return torch.linalg.svd(x)[1]


class Factor(nn.Module):
    def forward(self, x):
        square = x.T @ x + torch.eye(x.shape[1])
        return torch.linalg.qr(square)[1]


class Eigen(nn.Module):
    def forward(self, x):
        return torch.linalg.eigvals(x).real.sort(-1).values


class LeastSquares(nn.Module):
    def forward(self, x, y):
        return torch.linalg.lstsq(x, y).solution


class Cancels(nn.Module):
    def forward(self, x):
        y = x + 1e4
        return 1 / ((y * y).mean(-1) - y.mean(-1) ** 2)


class DecidesAndReturnsOne(nn.Module):
    def forward(self, x):
        return x if float(x.sum()) > 0 else -x


class FindsPeaks(nn.Module):
    def forward(self, x):
        high = x > 1
        if not high.any():
            return x.sigmoid(), None
        return x.sigmoid(), (high * x).sum(-1) / high.sum(-1).clamp(min=1)


class ReturnsSteps(nn.Module):
    def forward(self, x):
        return [step.tanh() for step in x.unbind(1)]


class FallsBack(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(10, 4))

    def forward(self, ids):
        try:
            rows = self.table[ids]
        except IndexError:
            rows = 2 * self.table[ids % 10]
        return rows.sum(1)


class KeepsInDefault(nn.Module):
    def forward(self, x, totals={}):  # noqa: B006
        totals["sum"] = totals.get("sum", 0) + x.sum(0)
        return x - totals["sum"]


class KeepsDropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3))

    def train(self, mode=True):
        super().train(mode)
        self.layer[1].training = True
        return self

    def forward(self, x):
        return self.layer(x)


class Sharpens(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Upsample(scale_factor=4)

    def forward(self, coarse, fine):
        return self.lift(coarse) * fine


class MixesDtypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2, dtype=torch.float64)

    def forward(self, x):
        return self.head(self.encoder(x).relu())


class ReadsExponents(nn.Module):
    def forward(self, x):
        return (x.view(torch.int32) >> 23) - 127


class RunsInThreads(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        with ThreadPoolExecutor(2) as pool:
            results = [pool.submit(branch, x) for branch in (self.first, self.second)]
            return sum(result.result() for result in results)


class Smooths(nn.Module):
    def forward(self, x):
        return nn.functional.gelu(x)
