"""Modules that read or write files in forward. The line to blame ends in the kind's name."""
# mypy: ignore-errors

from __future__ import annotations

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
