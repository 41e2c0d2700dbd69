"""Networks on words and time, as people write them."""

import math

import torch
from torch import Tensor, nn

F = nn.functional


class Encoder(nn.Module):
    """Two layers of self-attention with a padding mask, gelu and layer norms."""

    def __init__(self, width: int = 16, heads: int = 2, approximate: str = "none") -> None:
        super().__init__()
        self.words = nn.Embedding(40, width, padding_idx=0)
        self.places = nn.Embedding(32, width)
        self.project = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(2))
        self.out = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.wide = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(2))
        self.thin = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=1e-6) for _ in range(4))
        self.heads = heads
        self.approximate = approximate
        self.drop = nn.Dropout(0.1)

    def attend(self, x: Tensor, mask: Tensor, layer: int) -> Tensor:
        batch, time, width = x.shape
        parts = self.project[layer](x).view(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(mask[:, None, None] == 0, -1e4)
        mixed = (self.drop(scores.softmax(-1)) @ v).transpose(1, 2).reshape(batch, time, width)
        return self.out[layer](mixed)

    def forward(self, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(words.shape[1], device=words.device)
        x = self.words(words) + self.places(places)
        for layer in range(2):
            x = self.norms[2 * layer](x + self.attend(x, mask, layer))
            inner = F.gelu(self.wide[layer](x), approximate=self.approximate)
            x = self.norms[2 * layer + 1](x + self.thin[layer](inner))
        count = mask.sum(1, keepdim=True).clamp(min=1)
        return x, (x * mask[..., None]).sum(1) / count


class Decoder(nn.Module):
    """One step with a cache: keys and values grow, positions count on from the past."""

    def __init__(self, width: int = 12, heads: int = 3) -> None:
        super().__init__()
        self.words = nn.Embedding(30, width)
        self.places = nn.Embedding(64, width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 30, bias=False)
        self.heads = heads

    def split(self, x: Tensor) -> Tensor:
        batch, time, _ = x.shape
        return x.view(batch, time, self.heads, -1).transpose(1, 2)

    def forward(
        self, words: Tensor, past_key: Tensor, past_value: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        past, new = past_key.shape[2], words.shape[1]
        x = self.words(words) + self.places(torch.arange(past, past + new, device=words.device))
        key = torch.cat([past_key, self.split(self.k(x))], 2)
        value = torch.cat([past_value, self.split(self.v(x))], 2)
        total = key.shape[2]
        rows = torch.arange(past, total, device=words.device)[:, None]
        seen = torch.arange(total, device=words.device)[None] <= rows
        scores = self.split(self.q(x)) @ key.transpose(2, 3) * 0.5
        mixed = scores.masked_fill(~seen, float("-inf")).softmax(-1) @ value
        hidden = x + mixed.transpose(1, 2).flatten(2)
        return self.out(F.silu(hidden)), key, value


class Rotary(nn.Module):
    """RoPE, grouped queries, RMS norms and a gated feed-forward, causal."""

    def __init__(self, width: int = 16, heads: int = 4, groups: int = 2) -> None:
        super().__init__()
        self.words = nn.Embedding(50, width)
        size = width // heads
        self.heads, self.groups, self.size = heads, groups, size
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, groups * size, bias=False)
        self.v = nn.Linear(width, groups * size, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 24, bias=False)
        self.up = nn.Linear(width, 24, bias=False)
        self.down = nn.Linear(24, width, bias=False)
        self.gain = nn.Parameter(torch.rand(width) + 0.5)
        self.register_buffer("speed", 100.0 ** (-torch.arange(0, size, 2) / size))

    def turned(self, x: Tensor) -> Tensor:
        angle = torch.arange(x.shape[2], device=x.device)[:, None] * self.speed
        cos, sin = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    def norm(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gain

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words)
        batch, time, width = x.shape
        y = self.norm(x)
        q = self.turned(self.q(y).view(batch, time, self.heads, -1).transpose(1, 2))
        k = self.turned(self.k(y).view(batch, time, self.groups, -1).transpose(1, 2))
        v = self.v(y).view(batch, time, self.groups, -1).transpose(1, 2)
        k, v = (part.repeat_interleave(self.heads // self.groups, 1) for part in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, time, width))
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Gated(nn.Module):
    """A GRU and a bidirectional LSTM over one series; the last states and every step."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(3, 6, batch_first=True)
        self.lstm = nn.LSTM(6, 4, bidirectional=True, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, series: Tensor) -> tuple[Tensor, Tensor]:
        steps, last = self.gru(series)
        both, (_, cell) = self.lstm(steps)
        return self.head(both), torch.cat([last[0], cell[0], cell[1]], 1)


class Pooling(nn.Module):
    """Words to bags: sums by bag with repeated indices, the largest of each, counts."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(60, 6)
        self.head = nn.Linear(13, 3)

    def forward(self, words: Tensor, bags: Tensor) -> Tensor:
        vectors = self.words(words)
        index = bags[:, None].expand(-1, 6)
        total = torch.zeros(8, 6).scatter_add(0, index, vectors)
        best = torch.full((8, 6), -10.0).scatter_reduce(0, index, vectors, "amax")
        count = torch.zeros(8).index_add(0, bags, torch.ones_like(bags, dtype=torch.float32))
        return self.head(torch.cat([total, best, count[:, None]], 1))


class AttentionPooling(nn.Module):
    """A learnt query weighs the steps that a length lets in."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(5, 1)
        self.value = nn.Linear(5, 7)

    def forward(self, steps: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        inside = torch.arange(steps.shape[1], device=steps.device)[None] < length[:, None]
        scores = self.score(torch.tanh(steps)).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(~inside, float("-inf")), 1)
        return torch.einsum("bt,btd->bd", weights, self.value(steps)), weights
