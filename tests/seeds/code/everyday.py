"""Small networks as people write them: no operator comes alone in a model."""

import torch
from torch import Tensor, nn

F = nn.functional


def of_dtype(name: str, dtype: str) -> nn.Module:
    """Return a network of this module with all its weights in another dtype."""
    network: nn.Module = globals()[name]().to(getattr(torch, dtype))
    return network


class Attention(nn.Module):
    """By hand: one projection split in three, heads by view and transpose, a causal mask."""

    def __init__(self, width: int = 12, heads: int = 3) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        q, k, v = self.project(x).split(width, dim=2)
        q = q.view(batch, time, self.heads, -1).transpose(1, 2)
        k = k.view(batch, time, self.heads, -1).permute(0, 2, 3, 1)
        v = v.view(batch, time, self.heads, -1).transpose(1, 2)
        scores = q.matmul(k) / (width // self.heads) ** 0.5
        mask = x.new_ones(time, time).tril().expand(batch, 1, time, time)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).contiguous().view(batch, time, width))


class GatedConvolution(nn.Module):
    """glu, prelu with one weight, threshold, elu, selu and leaky_relu around convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(4, 12, 3, padding=2, dilation=2)
        self.second = nn.Conv1d(6, 6, 3, padding=1, groups=3, bias=False)
        self.norm = nn.BatchNorm1d(6)
        self.shared = nn.PReLU()
        self.floor = nn.Threshold(-0.2, 0.1)
        self.back = nn.ConvTranspose1d(6, 4, 4, stride=2, padding=1)

    def forward(self, x: Tensor):
        y = F.glu(self.first(x), dim=1)
        z = self.floor(self.shared(self.norm(self.second(y))))
        up = self.back(F.elu(z, alpha=0.4))
        return F.selu(y), F.log_softmax(z, dim=1), F.leaky_relu(up, 0.2)


class Normalised(nn.Module):
    """A layer norm and an RMS norm by hand: mean, sum, sqrt, abs, neg, pow, exp, clamp, prod."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.rand(6) + 0.5)
        self.shift = nn.Parameter(torch.randn(6))

    def forward(self, x: Tensor):
        centred = x - x.mean(-1, keepdim=True)
        scale = torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-3)
        normal = torch.add(self.shift, centred / scale * self.gain, alpha=0.5)
        rms = x * torch.rsqrt((x * x).sum(-1, keepdim=True) / x.size(-1) + 1e-3)
        kernel = torch.exp(-torch.abs(rms)).clamp(min=0.3, max=0.9)
        return normal, rms, kernel, (kernel + 0.5).prod(dim=-1), torch.sub(normal, rms, alpha=2)


class Geometry(nn.Module):
    """Angles: sin, cos, tan, asin, acos, atan, stacked to rotations and applied."""

    def forward(self, points: Tensor, angle: Tensor):
        cos, sin = torch.cos(angle), torch.sin(angle)
        rows = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
        turned = torch.bmm(points, rows.transpose(1, 2))
        unit = turned / (turned.norm(dim=-1, keepdim=True) + 1.0)
        x, y = unit.unbind(-1)
        return turned, torch.asin(y), torch.acos(x), torch.atan(y / (x.abs() + 1)), torch.tan(x)


class Chooser(nn.Module):
    """Rows chosen by index_select, compared, maximum and minimum, squeezed and joined."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("order", torch.tensor([3, 0, 2]))

    def forward(self, x: Tensor, y: Tensor):
        some = x.index_select(1, self.order).unsqueeze(-1)
        best, where = torch.max(torch.cat([some.squeeze(-1), y[:, :3]], dim=1), dim=1)
        least = torch.min(x, y)
        wins = (x > y).float() + (x.ge(y)).to(x.dtype) * 0.5 - (x.lt(y)).to(x.dtype)
        same = torch.eq(x, x.amax(1, keepdim=True)) & ~(x <= y.min())
        return best, where, least, wins, same, x[:, -2], x[:, (0, 3)].t()


class Pyramid(nn.Module):
    """Pools of every rank with ceil_mode, padded with constants, resized to the first and added."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.mean = nn.AvgPool2d(3, 2, ceil_mode=True, count_include_pad=False)
        self.pad = nn.ConstantPad2d((1, 0, 2, 1), 0.5)
        self.drop = nn.Dropout2d(0.3)

    def forward(self, image: Tensor):
        y = torch.relu(self.conv(self.pad(image)))
        small = self.drop(self.pool(y)) + self.mean(y)
        line = F.max_pool1d(small.flatten(2), 4, 3, ceil_mode=True)
        block = F.max_pool3d(small[:, None], 2, 2, ceil_mode=True)
        size = y.shape[-2:]
        wide = F.interpolate(small, size=size, mode="bilinear", align_corners=True)
        return y + wide, line, block


class Sentences(nn.Module):
    """Words to vectors, an LSTM and a GRU, a masked mean, and what is added to a bias."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(12, 5, padding_idx=0)
        self.lstm = nn.LSTM(5, 4, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 6, batch_first=True)
        self.weight = nn.Parameter(torch.randn(6, 3))
        self.bias = nn.Parameter(torch.randn(3))

    def forward(self, words: Tensor):
        known = words.ne(0).unsqueeze(-1).to(torch.float32)
        y, _ = self.lstm(self.words(words))
        z, last = self.gru(y)
        mean = (z * known).sum(1) / known.sum(1).clamp(min=1.0)
        return torch.addmm(self.bias, mean, self.weight), torch.mm(last[0], self.weight)


class Mixture(nn.Module):
    """Log-densities: exp and log chains, and numbers of unlike types that meet."""

    def __init__(self) -> None:
        super().__init__()
        self.centre = nn.Parameter(torch.randn(5, 4))
        self.register_buffer("share", torch.arange(1, 6))

    def forward(self, x: Tensor, count: Tensor):
        far = (x[:, None] - self.centre).abs().sum(-1)
        log = torch.log(self.share / self.share.sum()) - far
        total = log.exp().sum(1).log()
        weighted = count * total[:, None] + 1
        return total, torch.tanh(weighted), torch.sigmoid(count / 3), torch.where(count > 0, x, 0)
