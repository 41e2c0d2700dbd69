"""Models whose reports are looked at. They have no weights of their own to load."""

from __future__ import annotations

import torch
from torch import nn


class Frozen(nn.Module):
    """Its weights are buffers that no checkpoint holds."""

    weight: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.linspace(-1, 1, 16).reshape(4, 4), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x @ self.weight)


class ManyHeads(nn.Module):
    """45 outputs with long names, and modules in modules."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(Frozen(), nn.Sequential(Frozen(), nn.ReLU()))

    def forward(self, x: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = self.body(x)
        heads = [torch.softmax(hidden * (place + 1), -1) for place in range(44)]
        return (*heads, tokens.cumsum(1))


class Baked(nn.Module):
    """One output depends on a number that the tracer makes a constant."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scale = torch.from_numpy(x.detach().numpy()).abs().max()
        return x / scale, x + 1


class Untranslatable(nn.Module):
    """Uses an operator that ONNX lacks."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        real: torch.Tensor = torch.linalg.eigvals(x).real
        return real


def many_heads() -> nn.Module:
    return ManyHeads()


def baked() -> nn.Module:
    return Baked()


def untranslatable() -> nn.Module:
    return Untranslatable()
