"""Mixtures of experts that call those experts only that have tokens, as users write them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Expert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w1, self.w2 = nn.Linear(8, 12), nn.Linear(12, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(F.silu(self.w1(x)))


class ListOfExperts(nn.Module):
    """As Mixtral and Qwen-MoE had it: a module for each expert, those that are hit in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 4, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        x = x.view(-1, d)
        weights, chosen = torch.topk(F.softmax(self.gate(x), 1, dtype=torch.float), 2, -1)
        weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
        final = torch.zeros((b * n, d), dtype=x.dtype, device=x.device)
        mask = F.one_hot(chosen, 4).permute(2, 1, 0)
        hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for expert in hit:
            layer = self.experts[expert]
            place, token = torch.where(mask[expert].squeeze(0))
            current = layer(x[None, token].reshape(-1, d)) * weights[token, place, None]
            final.index_add_(0, token, current.to(x.dtype))
        return final.reshape(b, n, d)


class StackedExperts(nn.Module):
    """As transformers 5 has it: the experts' weights in one parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 4, bias=False)
        self.gate_up = nn.Parameter(torch.randn(4, 20, 8) * 0.3)
        self.down = nn.Parameter(torch.randn(4, 8, 10) * 0.3)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, 8)
        weights, chosen = torch.topk(F.softmax(self.gate(rows).float(), -1), 2, -1)
        final = torch.zeros_like(rows)
        with torch.no_grad():
            mask = F.one_hot(chosen, num_classes=5).permute(2, 1, 0)
            hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for expert in hit:
            expert = expert[0]  # noqa: PLW2901 - as it is written there
            if expert == 4:
                continue
            place, token = torch.where(mask[expert])
            gate, up = F.linear(rows[token], self.gate_up[expert]).chunk(2, -1)
            current = F.linear(F.silu(gate) * up, self.down[expert]) * weights[token, place, None]
            final.index_add_(0, token, current.to(final.dtype))
        return final.reshape(x.shape)


class ExpertsOfUniqueChoices(nn.Module):
    """An expert for each row by its language, in a loop over the languages that are there."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList(Expert() for _ in range(4))

    def forward(self, x: Tensor, language: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for expert in language.unique():
            mask = language == expert
            out[mask] = self.experts[int(expert)](x[mask])
        return out
