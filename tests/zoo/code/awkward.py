"""Models and factories that cannot be exported, one for each reason."""

from __future__ import annotations

import sys

import torch
from torch import nn


class Plain(nn.Module):
    """One weight, so that one checkpoint fits every module here."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))


class DataDependent(Plain):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x * self.weight
        return x - self.weight


class BakedBatch(Plain):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(3, 4) * self.weight


class NarrowBatch(Plain):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 8:
            return x
        return x * self.weight


class EqualDims(Plain):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x + y) * self.weight


class UsesNumpy(Plain):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.numpy()) * self.weight


class Unsupported(Plain):
    """Two operators that ONNX does not have."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first: torch.Tensor = torch.special.i0e(x * self.weight)
        second: torch.Tensor = torch.special.ndtri(x)
        return first + second


class TwoOutputs(Plain):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * self.weight, x


def raises() -> nn.Module:
    message = "no such width"
    raise ValueError(message)


def exits() -> nn.Module:
    sys.exit(3)


def returns_dict() -> dict[str, int]:
    return {"layers": 2}


class AxesOfWeights(Plain):
    """Calls an operator that ONNX has not, on weights alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        axes: torch.Tensor = torch.linalg.eigh(torch.outer(self.weight, self.weight)).eigenvectors
        return x @ axes
