"""Networks in the dtypes of their fields: bytes, double precision, bfloat16, grids of integers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Bfloat16Block(nn.Module):
    """A block of a language model in bfloat16 between inputs and outputs of float32."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
        self.bfloat16()

    def forward(self, x: Tensor) -> Tensor:
        x = x.bfloat16()
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf"), dtype=x.dtype).triu(1)
        y = self.norm(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return (x + self.down(F.silu(self.up(x)))).float()


class Census(nn.Module):
    """Matching costs of integers, summed over windows."""

    def forward(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        costs = []
        for shift in range(4):
            differ = left ^ torch.roll(right, shift, -1)
            costs.append((differ & 1) + (differ >> 1 & 1) + (differ >> 2 & 1))
        volume = torch.stack(costs, 1).float()
        summed = F.avg_pool2d(volume, 5, stride=1, padding=2, divisor_override=1).to(torch.int32)
        best, place = summed.min(1)
        return best, place.to(torch.uint8)


class Runoff(nn.Module):
    """Layers of double precision over time, and a spectrum."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(12, 5, batch_first=True)
        self.double()

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y, (_, cell) = self.lstm(x)
        y, _ = self.gru(y)
        spectrum = torch.fft.rfft2(y)
        smooth = torch.fft.irfft2(spectrum * 0.5, s=y.shape[-2:])
        return y, cell, smooth


class Sessions(nn.Module):
    """Buckets of gaps by their logarithm."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps = nn.Embedding(16, 4)

    def forward(self, seconds: Tensor) -> Tensor:
        bucket = torch.log2(seconds.clamp(min=1).float()).floor().long().clamp(0, 15)
        return self.gaps(bucket).cumsum(1)


class Tagger(nn.Module):
    """The best path through tags: a loop over words forth, and one back."""

    def __init__(self) -> None:
        super().__init__()
        self.emit, self.follow = nn.Linear(4, 5), nn.Parameter(torch.randn(5, 5))

    def forward(self, words: Tensor, kept: Tensor) -> dict[str, Tensor]:
        mask = kept.bool()
        emitted = self.emit(words)
        score = emitted[:, 0]
        history = []
        for step in range(1, words.shape[1]):
            best, back = (score.unsqueeze(2) + self.follow + emitted[:, step].unsqueeze(1)).max(1)
            score = torch.where(mask[:, step].unsqueeze(1), best, score)
            history.append(back)
        total, last = score.max(1)
        path = [last]
        for back in reversed(history):
            last = back.gather(1, last.unsqueeze(1)).squeeze(1)
            path.append(last)
        path.reverse()
        tags = torch.stack(path, 1)
        begins = (tags % 2 == 1) & mask
        return {"total": total, "tags": tags, "span": begins.cumsum(1) * (tags > 0)}


class Quantized(nn.Module):
    """A network that learned its steps: scales that are tensors, of every size."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, 4, 3, padding=1)
        self.register_buffer("scale", torch.tensor(0.125))
        self.register_buffer("zero", torch.tensor(3, dtype=torch.int32))
        self.register_buffer("steps", torch.full((4,), 1 / 64))
        self.register_buffer("zeros", torch.zeros(4, dtype=torch.int32))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.fake_quantize_per_tensor_affine(x, self.scale, self.zero, -128, 127)
        weight = torch.fake_quantize_per_channel_affine(
            self.convolution.weight, self.steps, self.zeros, 0, -128, 127
        )
        return F.conv2d(x, weight, self.convolution.bias, padding=1)


class Filtered(nn.Module):
    """Differences of bytes, read with a sign."""

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        left = F.pad(pictures[..., :-1], (1, 0))
        difference = (pictures - left).view(torch.int8)
        return difference, difference.to(torch.int16).abs().sum((-1, -2))
