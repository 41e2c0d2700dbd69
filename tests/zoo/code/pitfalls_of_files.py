"""Modules that read files or a generator in forward. The line to blame ends in its kind."""
# mypy: ignore-errors

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import torch
from torch import nn

TABLE = Path("scales.txt")


class LoadsTable(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scales = np.loadtxt(TABLE)  # State NumPy
        return x * torch.from_numpy(scales)  # NumPy


class AppendsRow(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with open("calls.txt", "a") as log:  # noqa: PTH123  # State
            log.write(f"{x.shape[0]}\n")
        return x


class ReadsText(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * json.loads(TABLE.read_text())["scale"]  # State


class TakesNext(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.turn = itertools.cycle(range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * next(self.turn)  # State
