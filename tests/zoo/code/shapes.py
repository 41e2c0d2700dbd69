"""Modules with the traits that loading has to keep: ties, buffers, recurrent weights, hooks."""

from __future__ import annotations

import torch
from torch import nn

State = dict[str, torch.Tensor]


class Tied(nn.Module):
    """Embedding and head are one parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.head = nn.Linear(6, 20, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.embedding(ids))
        return scores


class Wrapped(nn.Module):
    """Holds the module that was saved."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Embedding(20, 6)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        vectors: torch.Tensor = self.inner(ids)
        return vectors


class Positions(nn.Module):
    """Holds what no checkpoint has: a non-persistent buffer and a plain tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("frequencies", 10000 ** -torch.arange(0, 1, 0.25), persistent=False)
        self.offset = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = self.linear(x) * self.frequencies + self.offset
        return scaled


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, batch_first=True, bidirectional=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.lstm(x)[0]
        return states


class ListedWeights(nn.Module):
    """Keeps its parameters in a plain list too, which assigning would leave behind."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.zeros(4))
        self.listed = [self.first]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.listed[0]


class NeedsValues(nn.Module):
    """Looks at the values of its own parameters while it is built."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.scale = float(self.weight.sum())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight * self.scale


class CopyingHook(nn.Module):
    """Loads its weight by copying into it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4))

    def _load_from_state_dict(self, state_dict: State, prefix: str, *_: object) -> None:
        with torch.no_grad():
            self.weight.copy_(state_dict[prefix + "weight"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight


class Orthogonal(nn.Module):
    """Registers a buffer from the values of its weight, if they are known."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.utils.parametrizations.orthogonal(nn.Linear(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.linear(x)
        return result


class RandomProjection(nn.Module):
    """Draws a buffer that no checkpoint holds."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("noise", torch.randn(4), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        projected: torch.Tensor = self.linear(x) + self.noise
        return projected


class TwoInputs(nn.Module):
    """Adds its inputs, and ignores the third."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, a: torch.Tensor, b: torch.Tensor, unused: torch.Tensor) -> torch.Tensor:
        return (a + b) * self.scale
