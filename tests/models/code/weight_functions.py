"""Functions of weights that ONNX has no operator for."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Axes(nn.Module):
    """Turns rows to the principal axes of a learned metric."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        spread, axes = torch.linalg.eigh(self.weight @ self.weight.T)
        turned: Tensor = x @ axes * torch.sqrt(spread)
        return turned


class AxesOfInput(nn.Module):
    """The same of a metric that follows from the input."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        axes: Tensor = torch.linalg.eigh(self.weight @ self.weight.T + x.mean()).eigenvectors
        return axes


class Orthogonal(nn.Module):
    """A tall orthogonal matrix, by Householder's products."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.utils.parametrizations.orthogonal(nn.Linear(4, 6))

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.linear(x)
        return made


class Counting(nn.Module):
    """A buffer that changes with each call."""

    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.eye(4))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.add_(1.0)
        axes: Tensor = torch.linalg.eigh(self.seen).eigenvectors
        return x @ axes


class Drawn(nn.Module):
    """Axes of a random matrix."""

    def forward(self, x: Tensor) -> Tensor:
        axes: Tensor = torch.linalg.eigh(torch.randn(4, 4)).eigenvectors
        return x @ axes
