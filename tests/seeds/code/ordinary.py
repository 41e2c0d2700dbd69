"""Models as users write them, which must be exported: masks, sizes computed in ordinary ways."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MaskedEncoder(nn.Module):
    """Tokens and a mask of padding, through torch's own encoder with its defaults."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, ids: Tensor) -> Tensor:
        padding = ids == 0
        hidden = self.encoder(self.embedding(ids), src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(-1).to(hidden.dtype)
        return (hidden * kept).sum(1) / kept.sum(1).clamp(min=1.0)


class PaddedEncoder(nn.Module):
    """Vectors whose padding the caller marks, through torch's own encoder."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        kept = (~padding).unsqueeze(-1).to(x.dtype)
        return (self.encoder(x, src_key_padding_mask=padding) * kept).sum(1) / kept.sum(1)


class LastOfEachRow(nn.Module):
    """The vector of the last token that is no padding; a row of padding only is an error."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        last = mask.sum(1) - 1
        return x[torch.arange(len(x), device=x.device), torch.where(last < 0, x.shape[1], last)]


class PaddedSteps(PaddedEncoder):
    """Differences of an encoder's rows, one less than there are rows."""

    def forward(self, x: Tensor, padding: Tensor, gaps: Tensor) -> Tensor:  # type: ignore[override]
        kept = (~padding).unsqueeze(-1).to(x.dtype)
        hidden = self.encoder(x, src_key_padding_mask=padding) * kept
        return (hidden[:, 1:] - hidden[:, :-1]) / gaps[:, None]


class SpeedsAlongAPath(nn.Module):
    """One number less than points."""

    def forward(self, x: Tensor, seconds: Tensor) -> Tensor:
        return (x[1:] - x[:-1]).norm(dim=1) / seconds


class BothHalves(nn.Module):
    """Two rows for each of the other input, and one before them."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([y[:1], y[1:] + x.repeat_interleave(2, 0)])


class RareLabels(nn.Module):
    """Labels with probabilities of their own, from a half to one in a million."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(16, 40)
        self.score.bias = nn.Parameter(torch.linspace(0, -14, 40))

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.score(x))


class RareGates(RareLabels):
    """Units that are nearly closed."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        gates = self.score(x)
        return torch.sigmoid(gates) * x.mean(-1, keepdim=True), F.silu(gates)


class SparseScores(nn.Module):
    """The ten largest of scores that are mostly zero."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(16, 32)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = torch.relu(self.score(x) - 0.5).topk(20, sorted=False)
        return values, places


class Votes(nn.Module):
    """Candidates in the order of their votes, some of which have none."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        votes = F.one_hot((x.abs() * 3).long().clamp(max=11), 12).sum(1)
        return (
            votes.topk(5).indices,
            votes.argsort(descending=True),
            votes.median(1).indices,
            votes.kthvalue(3).indices,
        )


class CentreCrop(nn.Module):
    """The middle of a signal, an eighth of it left out, in four parts and a tenth longer."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        size = x.shape[-1]
        kept = int(round(size * 0.875))  # noqa: RUF046 - as users write it
        first = (size - kept) // 2
        middle = x[..., first : first + kept]
        longer = F.interpolate(middle, scale_factor=1.1, mode="linear", align_corners=False)
        return F.adaptive_avg_pool1d(middle, 4), longer


class UpsampleByTenth(nn.Module):
    """Sizes of 8 and 9 stay what they are, and are copied."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return (
            nn.Upsample(scale_factor=1.1)(x),
            nn.Upsample(scale_factor=1.1, mode="bilinear")(x),
            F.interpolate(x, scale_factor=(1.1, 0.7), mode="bicubic"),
        )


class WholeWindows(nn.Module):
    """Pools with a window as large as the image."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.features(x)
        rows = F.max_pool1d(y.mean(2), kernel_size=y.shape[3])
        largest = F.max_pool2d(y, kernel_size=(y.shape[2], y.shape[3]))
        return F.avg_pool2d(y, y.shape[-2:]).flatten(1), largest.flatten(1), rows


class RestoredSize(nn.Module):
    """A transposed convolution to the size of the image before the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(self.down(x), output_size=x.shape[-2:])


class BagsOfWords(nn.Module):
    """Its translation has a branch of its own, for negative indices."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(20, 4, padding_idx=0, mode="mean")

    def forward(self, ids: Tensor) -> Tensor:
        return self.words(ids)


class FlagsOfBytes(nn.Module):
    """Sets, counts and clears bits."""

    def forward(self, flags: Tensor, on: Tensor) -> tuple[Tensor, ...]:
        marked = flags | (on.to(torch.uint8) << 7)
        count = sum((flags >> bit) & 1 for bit in range(8))
        return marked, count, -flags, flags.clamp(3, 200), torch.where(on, flags, flags << 1)


class PositionsByFactor(nn.Module):
    """Positions of a vision transformer, resized by factors made of sizes, as in DINO."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 6, 8, 8)
        self.positions = nn.Parameter(torch.randn(1, 16, 6))

    def forward(self, x: Tensor) -> Tensor:
        y = self.patches(x)
        side = math.sqrt(self.positions.shape[1])
        grid = self.positions.reshape(1, 4, 4, 6).permute(0, 3, 1, 2)
        factors = tuple((size // 8 + 0.1) / side for size in x.shape[2:])
        return y + F.interpolate(grid, scale_factor=factors, mode="bicubic")


class ToHeightOf32(nn.Module):
    """Pictures resized to one height, their proportions kept."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        factor = 32 / x.shape[2]
        return (
            F.interpolate(x, scale_factor=factor),
            F.interpolate(x, scale_factor=(factor, 1.5), mode="bilinear"),
            F.interpolate(x, scale_factor=factor, mode="bilinear", recompute_scale_factor=True),
            F.interpolate(x, scale_factor=factor, mode="area"),
        )


class WholeRows(nn.Module):
    """Rows of seven, the last one filled."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        rows, rest = divmod(x.shape[0], 7)
        return F.pad(x, (0, 0, 0, 7 - rest)).reshape(rows + 1, 7, -1).amax(1), x * divmod(
            50, rows + 3
        )[1]


class Experts(nn.Module):
    """One expert by the caller's choice, one by the scores of a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(16, 3) for _ in range(4))

    def forward(self, x: Tensor, mode: Tensor) -> tuple[Tensor, ...]:
        best = int(self.experts[0](x).mean(0).argmax())
        return self.experts[mode.item()](x), self.experts[best](x) * 2, torch.tensor(best)


class BagsOfHashes(nn.Module):
    """Hashes of 32 bits in bags of four, the last may be shorter; weighted bags with padding."""

    def __init__(self) -> None:
        super().__init__()
        self.items = nn.EmbeddingBag(64, 8, mode="max")
        self.history = nn.EmbeddingBag(10, 8, mode="sum", padding_idx=0)

    def forward(self, ids: Tensor, history: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        places = (((ids >> 16) ^ ids) * 0x45D9F3B) & 63
        starts = torch.arange(0, ids.shape[0], 4, dtype=places.dtype)
        items = self.items(places, starts)
        return items, self.history(history, per_sample_weights=weights)


class Modulated(nn.Module):
    """Kernels of each sample's own, as generators of images have: as many groups as samples."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 4, 3, 3))
        self.style = nn.Linear(5, 4)

    def forward(self, x: Tensor, style: Tensor) -> tuple[Tensor, Tensor]:
        b, c, h, w = x.shape
        kernels = self.weight * (self.style(style).view(b, 1, c, 1, 1) + 1)
        kernels = kernels * torch.rsqrt(kernels.pow(2).sum((2, 3, 4), keepdim=True) + 1e-8)
        x = x.reshape(1, b * c, h, w)
        same = F.conv2d(x, kernels.view(b * 6, c, 3, 3), padding=1, groups=b)
        kernels = kernels.transpose(1, 2).reshape(b * c, 6, 3, 3)
        larger = F.conv_transpose2d(x, kernels, stride=2, padding=1, output_padding=1, groups=b)
        return same.view(b, 6, h, w), larger.view(b, 6, 2 * h, 2 * w)


class Aliases(nn.Module):
    """Operators by their second names, of mixed types."""

    def forward(self, x: Tensor, i: Tensor) -> tuple[Tensor, ...]:
        high = x > 0.2
        places = torch.arange(end=x.shape[0]).true_divide(3)
        return (
            x.multiply(high) + places[:, None],
            i.multiply(high).subtract(2).multiply(0.5),
            torch.subtract(i, x).divide(high.long() + 1),
            torch.greater(i, x).multiply(torch.less_equal(i, x + 1)),
            x.less(i) | i.greater_equal(x + 2),
            torch.special.erfc(x + 5),
        )


class WholeWeeks(nn.Module):
    """Days in weeks, of which the last may be short: quotients of negative sizes."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        n, days = x.shape
        weeks = -(-days // 7)
        profile = F.pad(x, (0, -days % 7)).view(n, weeks, 7).sum(1)
        season = profile.repeat(1, weeks)[:, :days]
        return x - season, torch.roll(profile, shifts=-(days % 7), dims=1)


class Chunks(nn.Module):
    """Three chunks, or fewer: four rows make two of two. Returns numbers of Python, too."""

    def forward(self, x: Tensor) -> tuple[Tensor, int, int]:
        parts = x.chunk(3)
        return torch.stack([part.mean(0) for part in parts]), len(parts), parts[-1].shape[0]
