"""Models at the ends of floats: NaN that nobody asks for, functions that saturate."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class NanOfExtremes(nn.Module):
    """Never asks for NaN, and returns it, or its place."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        best, place = x.max(dim=-1)
        ranked = torch.topk(x, 2, dim=-1).values
        return best, place, x.amin(-1), x.argmin(-1), ranked, torch.sort(x, dim=-1).values


class NanOfMasks(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return x >= 0, x <= 1, ~(x < 0), torch.where(x >= 0, 1, 0).sum(-1)


class NanOfFunctions(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        at_zero = torch.full_like(x, 0.5)
        return torch.heaviside(x, at_zero), torch.logit(x, 0.01), torch.clamp(x, 0, 1)


class PowersOfSigmoid(nn.Module):
    """What becomes of a small probability: a root, an inverse, a share, a rank, a comparison."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        p = torch.sigmoid(x)
        return (
            p**0.1,
            torch.log1p(1 / p),
            p / p.sum(-1, keepdim=True),
            torch.logit(p * 0.5),
            p.argmax(-1),
            p > 1e-9,
            torch.ceil(p),
            torch.nn.functional.silu(x).abs() ** 0.2,
        )


class AngleOfTanh(nn.Module):
    """Has no value beyond 1."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        t = torch.tanh(x)
        return torch.acos(t).isnan(), torch.sqrt(1 - t * t).isnan(), t > 1
