"""Loops over sizes in code that TorchScript does not compile."""

# mypy: ignore-errors
# ruff: noqa: ANN, D101, D102, D103

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Sizes:
    inner: int = 6
    states: int = 3


class SelectiveScan(nn.Module):
    """The recurrence of a state-space model, as papers write it."""

    def __init__(self, **options):
        super().__init__()
        self.sizes = Sizes(**options)
        d, n = self.sizes.inner, self.sizes.states
        self.decay = nn.Parameter(torch.rand(d, n))
        self.project = nn.Linear(d, 2 * n)
        self.step = nn.Linear(d, d)
        self.skip = nn.Parameter(torch.ones(d))

    def scan(self, u, delta, *, b, c):
        change = torch.exp(-delta.unsqueeze(-1) * self.decay)
        given = torch.einsum("bld,bln,bld->bldn", delta, b, u)
        state, outputs = u.new_zeros(u.shape[0], self.sizes.inner, self.sizes.states), []
        for i in range(u.shape[1]):
            state = change[:, i] * state + given[:, i]
            y = torch.einsum("bdn,bn->bd", state, c[:, i, :])
            outputs.append(y)
        y = torch.stack(outputs, dim=1)
        return {"y": y + u * self.skip, "state": state}

    def forward(self, x, **options):
        b, c = self.project(x).chunk(2, -1)
        return self.scan(x, F.softplus(self.step(x)), b=b, c=c, **options)


class StackedCells(nn.Module):
    """Two LSTM cells whose states begin as None, in both directions."""

    def __init__(self, **names):
        super().__init__()
        self.names = names
        self.forth = nn.ModuleList([nn.LSTMCell(6, 5), nn.LSTMCell(5, 5)])
        self.back = nn.GRUCell(6, 5)

    def forward(self, x):
        states, forth = [None, None], []
        for row in x.unbind(dim=1):
            for k, cell in enumerate(self.forth):
                states[k] = cell(row, states[k])
                row = states[k][0]  # noqa: PLW2901 - as users write it
            forth.append(row)
        h, back = x.new_zeros(x.size(0), 5), []
        for t in reversed(range(x.size(1))):
            h = self.back(x[:, t], h)
            back.append(h)
        both = torch.cat([torch.stack(forth, 1), torch.stack(back[::-1], 1)], -1)
        return {"both": both, "last": forth[-1]}


class Smoothed(nn.Module):
    """Exponential smoothing from the second row on, into a tensor made before."""

    def __init__(self, **names):
        super().__init__()
        self.names = names
        self.share = nn.Parameter(torch.rand(6))

    def forward(self, x):
        y = torch.zeros_like(x)
        y[:, 0] = x[:, 0]
        for t in range(1, x.shape[1]):
            y[:, t] = self.share * x[:, t] + (1 - self.share) * y[:, t - 1]
        return y


def selective_scan():
    torch.manual_seed(0)
    return SelectiveScan()


def stacked_cells():
    torch.manual_seed(0)
    return StackedCells()


def smoothed():
    torch.manual_seed(0)
    return Smoothed()
