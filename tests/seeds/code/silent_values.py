"""Models whose values an export gets wrong in silence: precision, integers, NaN, rare values."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class DoubleBesideFloat(nn.Module):
    """Times in milliseconds, in float64, beside a network in float32."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        return self.net(x), t * 1.001 + 0.1


class HalfTableBesideFloat(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.rand(16, 4).half())

    def forward(self, ids: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.table[ids].float(), torch.tanh(x) * 0.3


class PriceAndComplement(nn.Module):
    """A probability beside a price a million times as large."""

    def forward(self, x: Tensor) -> Tensor:
        p = torch.sigmoid(x)
        return torch.stack([1e6 * (1 + p), 1 - p], dim=-1)


class DoubleConstants(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return (
            torch.deg2rad(x),
            torch.rad2deg(x),
            torch.log10(x.abs() + 1.1),
            torch.log2(x.abs() + 1.1),
            F.gelu(x),
            F.gelu(x, approximate="tanh"),
            x * 0.1 + 0.3,
            torch.full_like(x, 0.7) - x,
            torch.where(x > 0.123456789, x, 0.3),
            torch.clamp(x, -0.7, 1.3),
            torch.add(x, 0.1, alpha=0.3),
            F.leaky_relu(x, 0.013),
            F.elu(x, 1.1),
            F.hardtanh(x, -0.3, 0.9),
            torch.lerp(x, x * 2, 0.3),
            F.silu(x) + F.softplus(x, 1.3),
            x**2.3 if False else torch.pow(x.abs(), 2.3),
            torch.logit(torch.sigmoid(x), 1e-7),
            F.threshold(x, 0.1, 0.2),
            torch.masked_fill(x, x > 0.3, 0.1),
            F.pad(x, (1, 1), value=0.1),
            torch.addcmul(x, x, x, value=0.1),
            F.normalize(x, dim=-1, eps=1e-7),
            F.layer_norm(x, (4,), eps=1e-5),
        )


class DoubleRemainder(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return torch.remainder(x, 0.7), torch.fmod(x, 0.3), torch.floor_divide(x, 0.1)


class DoubleQuantile(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.quantile(x, torch.tensor([0.1, 0.37, 0.9], dtype=torch.float64), dim=-1)


class IntegerDivisions(nn.Module):
    """Days and hours of seconds."""

    def forward(self, t: Tensor) -> tuple[Tensor, ...]:
        return (
            torch.div(t, 86400, rounding_mode="floor"),
            torch.div(t, 3600, rounding_mode="trunc"),
            t // 60,
            t % 60,
            torch.fmod(t, 7),
        )


class IntegerDivisionOfTensors(nn.Module):
    def forward(self, t: Tensor, by: Tensor) -> tuple[Tensor, ...]:
        return torch.div(t, by, rounding_mode="trunc"), torch.div(t, by, rounding_mode="floor")


class IntegerReductions(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return x.sum(-1), x.prod(-1), x * x, x.cumsum(-1), x.amax(-1), x**2, torch.sign(x), x.abs()


class IntegerMatmul(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x @ y


class RepairsAndCounts(nn.Module):
    """A repaired series, the mask of what was missing, and its count."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        missing = torch.isnan(x)
        return torch.nan_to_num(x), missing, missing.sum(-1)


class RanksWithNan(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        missing = x != x  # noqa: PLR0124
        values, places = torch.topk(x, 2, dim=-1)
        return missing, values, places


class LargestWithNan(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return torch.isnan(x), x.argmax(-1), x.amax(-1), x.max(-1).values, torch.clamp(x, -1, 1)


class OverThreshold(nn.Module):
    """Finds nothing in noise: what is behind its threshold is never seen."""

    def __init__(self, behind: float = 1.0) -> None:
        super().__init__()
        self.score = nn.Linear(4, 1)
        self.box = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scores = torch.sigmoid(self.score(x)).squeeze(-1)
        kept = (scores > 0.999999).nonzero().squeeze(-1)
        return self.box(x)[kept], scores[kept]


class PoolsAtEnd(nn.Module):
    """Text features where the end-of-sequence id is, as CLIP pools them."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(50000, 4)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids)
        at = (ids == 49407).int().argmax(dim=-1)
        return x[torch.arange(x.shape[0]), at]


class Rules(nn.Module):
    """A rule for one country and one device."""

    def forward(self, x: Tensor) -> Tensor:
        country, device = x[:, 0], x[:, 1]
        return torch.where((country == 117) & (device == 3), 1.0, 0.5)


class Buckets(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("edges", torch.tensor([0.5, 18.0, 35.5, 65.0, 120.0]))

    def forward(self, x: Tensor) -> Tensor:
        return torch.bucketize(x, self.edges)


class Silence(nn.Module):
    """A gate in front of a logarithm, over loudness in decibel."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(torch.sigmoid(x))


class NarrowBand(nn.Module):
    """Does something in a thousandth of its declared range."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.where((x > 2) & (x < 3), torch.round(x * 2), x)


class HalvesIds(nn.Module):
    def forward(self, ids: Tensor) -> Tensor:
        return ids >> 1


class EmbedsIds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(300, 4)

    def forward(self, ids: Tensor) -> Tensor:
        return self.table(ids)


class LogSumExp(nn.Module):
    """Masked scores: some rows begin with -inf."""

    def forward(self, x: Tensor) -> Tensor:
        masked = torch.where(x > 0, x, -math.inf)
        return torch.logsumexp(masked, dim=-1)


class SignsOfLargeIntegers(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.sign(x - 3_000_000_000)


class LogOfSigmoid(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return F.logsigmoid(x), torch.sigmoid(x).log()


class SamplesAtTies(nn.Module):
    def forward(self, x: Tensor, g: Tensor) -> Tensor:
        return F.grid_sample(x, g, mode="nearest", align_corners=False)


class BestOfNoRows(nn.Module):
    """The best class of the rows that pass, of which there may be none."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        kept = x[x[:, 0] > 0]
        return self.net(kept).argmax(-1)


class HalfOnOneSide(nn.Module):
    """One side of a branch on the size computes in float16: its rounding explains no other side."""

    def forward(self, x):
        if x.shape[0] % 2 == 0:
            return x / (x.half().abs() + 0.3)
        return x / x.shape[0]


class RoundedToSingle(nn.Module):
    """What is float32 in eager is float32 in the file, though a cast to float64 follows."""

    def forward(self, t):
        return t.float().double() / 3.0, (torch.arange(t.shape[0]) / 0.7).double() * 1e6


class IntegersWithoutRange(nn.Module):
    """Integers that stay integers, without a declared range: exact up to the dtype's ends."""

    def forward(self, t):
        days = torch.div(t, 86400, rounding_mode="floor")
        sums = torch.stack([t.sum(), t.cumsum(0)[-1], t.amax(), t.abs().amin()])
        kept = torch.where(t > 2**40, t - 1, t ^ 103).clamp(-(2**50), 2**50)
        return t * 60 + 7, t // 3600, t % 7, days, sums, kept, t.sort().values, (t >> 3) & 255
