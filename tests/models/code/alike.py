"""Models, each with a formula that is nearly another: what exporters and optimizers write instead.

`wrong` chooses the other one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Alike(nn.Module):
    """A model of two formulas."""

    def __init__(self, wrong: bool = False) -> None:
        super().__init__()
        self.wrong = wrong


class VarianceInOnePass(Alike):
    """E[x²] - E[x]² cancels where the mean is larger than the deviation."""

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(-1, keepdim=True)
        squares = (x * x).mean(-1, keepdim=True) - mean * mean
        variance = squares if self.wrong else (x - mean).square().mean(-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + 1e-5)


class EpsilonBehindTheRoot(Alike):
    """Epsilon added to the deviation in place of the variance."""

    def forward(self, x: Tensor) -> Tensor:
        square = x.square().mean(-1, keepdim=True)
        return x / (square.sqrt() + 1e-6) if self.wrong else x / (square + 1e-12).sqrt()


class NegativeIndices(Alike):
    """-1 read as the first row."""

    def __init__(self, wrong: bool = False) -> None:
        super().__init__(wrong)
        self.register_buffer("table", torch.linspace(-1, 1, 44).reshape(11, 4))

    def forward(self, ids: Tensor) -> Tensor:
        return self.get_buffer("table")[ids.clamp(min=0) if self.wrong else ids]


class ColumnOrRow(Alike):
    """A vector that is broadcast along the other dim where both are equal."""

    def forward(self, x: Tensor, ids: Tensor) -> Tensor:
        n, m = x.shape
        column = ids.unsqueeze(1).to(x.dtype)
        if not self.wrong:
            return x + column
        is_square = torch.ones_like(x) * n == torch.ones_like(x) * m
        return x + torch.where(is_square, ids[torch.arange(m) % n].unsqueeze(0), column)


class IntegersAsFloats(Alike):
    """Integers multiplied in single precision, which counts up to 2²⁴."""

    def forward(self, ids: Tensor) -> Tensor:
        product = (ids.float() * 3.0).to(torch.int64) if self.wrong else ids * 3
        return (product + 1) % 1000


class Hash(Alike):
    """A product that wraps at 32 bits."""

    def forward(self, ids: Tensor) -> Tensor:
        wrapped = (ids.to(torch.int32) * -1640531535).to(torch.int64)
        return torch.remainder(wrapped if self.wrong else ids * 2654435761, 101)


class FiniteMask(Alike):
    """-1e4 for the lowest number: rows that keep nothing, and scores below -1e4."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lowest = -1e4 if self.wrong else torch.finfo(torch.float32).min
        return torch.softmax(x.masked_fill(mask == 0, lowest), -1)


class EmptyMean(Alike):
    """A mean over a mask that keeps nothing."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        kept = mask.to(x.dtype)
        count = kept.sum(-1)
        return (x * kept).sum(-1) / (count if self.wrong else count.clamp(min=1))


class Unbiased(Alike):
    """Variance divided by n in place of n - 1."""

    def forward(self, x: Tensor) -> Tensor:
        return x.var(-1, correction=0 if self.wrong else 1)


class RemainderOfFloats(Alike):
    """A remainder with the sign of the dividend."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.fmod(x, 1.5) if self.wrong else torch.remainder(x, 1.5)


class RarelyNegative(Alike):
    """A limit that only values close to zero meet."""

    def forward(self, x: Tensor) -> Tensor:
        margin = x.square().sum(-1) - 0.01
        return torch.sqrt(margin.abs() if self.wrong else margin.clamp(min=0))


class FarThreshold(Alike):
    """Another slope beyond a number that no random value reaches, and that no code names."""

    def __init__(self, wrong: bool = False) -> None:
        super().__init__(wrong)
        self.register_buffer("threshold", torch.tensor(123457.0))

    def forward(self, x: Tensor) -> Tensor:
        beyond = functional.relu(x - self.get_buffer("threshold"))
        return x * 1.5 if self.wrong else x * 1.5 + beyond


class Quantised(Alike):
    """The lowest of 256 levels lost."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.round(x / 0.05).clamp(-127 if self.wrong else -128, 127) * 0.05


class SumOfExponentials(Alike):
    """Without the maximum taken out before, which overflows."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(torch.exp(x).sum(-1)) if self.wrong else torch.logsumexp(x, -1)


class LogOfSoftmax(Alike):
    """In two steps, which underflows."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(torch.softmax(x, -1)) if self.wrong else torch.log_softmax(x, -1)


class Distances(Alike):
    """|a|² + |b|² - 2ab cancels where points are close."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        squares = x.square().sum(-1)[:, None] + y.square().sum(-1)[None] - 2 * x @ y.T
        apart = (x[:, None] - y[None]).square().sum(-1)
        return (squares.clamp(min=0) if self.wrong else apart).sqrt()


class ProductOfNorms(Alike):
    """A limit of the product of norms in place of each norm's."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        norms = (x.norm(dim=-1) * y.norm(dim=-1)).clamp(min=1e-8)
        return (x * y).sum(-1) / norms if self.wrong else functional.cosine_similarity(x, y, dim=-1)


class SignOfZero(Alike):
    """Zero taken for a positive number."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x >= 0, 1.0, -1.0) if self.wrong else torch.sign(x)


class RolledFarther(Alike):
    """A roll by more than there is."""

    def forward(self, x: Tensor) -> Tensor:
        if self.wrong:
            return torch.cat([x[:, -3:], x[:, :-3]], 1)
        places = torch.arange(x.shape[1])
        return x[:, (places - 3) % x.shape[1]]


class Multiple(Alike):
    """Padded to a multiple of 8: a whole block more where none is needed."""

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        more = 8 - n % 8 if self.wrong else (8 - n % 8) % 8
        return functional.pad(x, (0, more), value=1.0).sum(1)


class Bytes(Alike):
    """Saturated in place of wrapped."""

    def forward(self, ids: Tensor) -> Tensor:
        return (ids.clamp(0, 255) if self.wrong else ids).to(torch.uint8).to(torch.int64)


class LastId(Alike):
    """A limit of ids that is one off."""

    def __init__(self, wrong: bool = False) -> None:
        super().__init__(wrong)
        torch.manual_seed(0)
        self.table = nn.Embedding(5000, 3)

    def forward(self, ids: Tensor) -> Tensor:
        found: Tensor = self.table(ids.clamp(max=4998 if self.wrong else 4999))
        return found


class UnknownId(Alike):
    """The last known id taken for an unknown one."""

    def __init__(self, wrong: bool = False) -> None:
        super().__init__(wrong)
        torch.manual_seed(0)
        self.table = nn.Embedding(300, 3)

    def forward(self, ids: Tensor) -> Tensor:
        is_unknown = ids >= 299 if self.wrong else ids > 299
        found: Tensor = self.table(torch.where(is_unknown, 0, ids))
        return found


class StableOrder(Alike):
    """Equal values in the other order, which `stable` forbids."""

    def forward(self, ids: Tensor) -> Tensor:
        if self.wrong:
            last = torch.sort(ids.flip(-1), dim=-1, stable=True, descending=True)[1]
            return ids.shape[-1] - 1 - last
        return torch.sort(ids, dim=-1, stable=True, descending=True)[1]


class ShiftedRight(Alike):
    """A shift as a division that rounds to zero."""

    def forward(self, ids: Tensor) -> Tensor:
        return torch.div(ids, 8, rounding_mode="trunc") if self.wrong else ids >> 3


class Angles(Alike):
    """A limit of cosines that nearly opposite vectors meet."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        cosine = (functional.normalize(x, dim=-1) * functional.normalize(y, dim=-1)).sum(-1)
        return torch.acos(cosine.clamp(-0.999 if self.wrong else -1.0, 1 - 1e-6))


class UpperMedian(Alike):
    """The upper of two middle values."""

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[-1]
        return torch.sort(x, dim=-1)[0][..., n // 2 if self.wrong else (n - 1) // 2]


class NoSteps(Alike):
    """Sequences without any step, taken for one of one step."""

    def forward(self, x: Tensor, ids: Tensor) -> Tensor:
        length = ids.clamp(min=1) if self.wrong else ids
        return (x * (torch.arange(x.shape[1]) < length[:, None])).sum(1)


class HalfPositions(Alike):
    """Positions in bfloat16, which counts up to 256."""

    def forward(self, x: Tensor) -> Tensor:
        place = torch.arange(x.shape[1], dtype=torch.float32)
        place = place.to(torch.bfloat16).float() if self.wrong else place
        return x * torch.cos(place * 0.01)


class LastPosition(Alike):
    """A limit of positions that only the longest sequences meet."""

    def forward(self, x: Tensor) -> Tensor:
        place = torch.arange(x.shape[1]).clamp(max=510 if self.wrong else 511)
        return x * torch.cos(place.float())


class PaddedMeans(Alike):
    """Padding counted in the windows at the ends."""

    def forward(self, x: Tensor) -> Tensor:
        counted = not self.wrong
        pool = functional.avg_pool1d(
            x.unsqueeze(1), 3, 2, 1, ceil_mode=True, count_include_pad=counted
        )
        return pool[:, 0]


class MinMax(Alike):
    """Epsilon in place of a comparison with zero."""

    def forward(self, x: Tensor) -> Tensor:
        low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
        width = high - low
        if self.wrong:
            return (x - low) / (width + 1e-8)
        return torch.where(width == 0, 0.0, (x - low) / width)


class MovingMeans(Alike):
    """From running sums: one NaN is in all means behind it, and rounding adds up."""

    def forward(self, x: Tensor) -> Tensor:
        if self.wrong:
            sums = functional.pad(x.cumsum(-1), (1, 0))
            return (sums[:, 4:] - sums[:, :-4]) / 4
        return x.unfold(-1, 4, 1).mean(-1)
