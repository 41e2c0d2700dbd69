"""Models whose weights, inputs or memory do not fit what is declared."""
# mypy: ignore-errors

from __future__ import annotations

import torch
from torch import nn


class Quantized(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 2)))

    def forward(self, x):
        return self.net(x)


class HalfWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4, dtype=torch.bfloat16)

    def forward(self, x):
        return self.layer(x) + 1


class OneAxisLess(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(1, 3, 3, padding=1)

    def forward(self, x):
        return self.layer(x).mean((2, 3))


class TakesBool(nn.Module):
    def forward(self, x, keep):
        return x.masked_fill(keep, 0.0)


class KeepsMeans(nn.Module):
    def __init__(self):
        super().__init__()
        self.means = [torch.zeros(4), torch.zeros(4)]

    def forward(self, x):
        self.means[1].mul_(0.9).add_(0.1 * x.mean(0))
        return x - self.means[1]


class GoesThroughSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = {"mean", "sum", "prod"}

    def forward(self, x):
        return torch.stack([getattr(x, name)(1) for name in self.used], 1)


SIZES = {"wide": 8, "narrow": 2, "old": 3, "middle": 4}


class BuiltFromSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict()
        for name in SIZES.keys() - {"old"}:
            self.layers[name] = nn.Linear(4, 4)

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x).tanh()
        return x
