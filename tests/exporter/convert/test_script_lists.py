"""Lists of scripts that are put together."""

from __future__ import annotations

import math
from pathlib import Path
from typing import List  # noqa: UP035 - as torch.jit reads it

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from exporter.convert.scripted import Scripted


class Extended(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        parts, others = [], []
        for row in x:
            parts.append(row * 0.5)
            others.append(-row)
        parts.extend(others)
        parts.extend([x[0], x[-1] * 2])
        return torch.stack(parts)


class BetweenOthers(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        parts = []
        for row in x:
            parts.append(row)  # noqa: PERF402
        return torch.stack([x[0] * 2, x[-1] * 3] + parts + [x[-1]])  # noqa: RUF005


class InLoops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        parts = []
        for row in x:
            parts += [row]
            parts = parts + [-row]  # noqa: RUF005
        return torch.stack(parts)


class Sizes(nn.Module):
    """torch adds 1 to each size, and the last size to the only one."""

    def forward(self, x: Tensor) -> Tensor:
        shape = list(x.shape[:-1])
        shape += [1]
        shape = shape + [x.shape[-1]]  # noqa: RUF005
        others = [x.shape[0], 1]
        others.extend(x.shape[1:])
        return x.view(shape) + x.view(others)


class ComputedPlaces(nn.Module):
    STEP = 3

    def starts(self, size: int) -> List[int]:  # noqa: UP006 - as torch.jit reads it
        count = math.ceil(max(size - 2, 0) / self.STEP) + math.floor(size / 9)
        return [max(min(i * self.STEP, size - 2), 0) for i in range(count + 1)]

    def forward(self, x: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for start in self.starts(x.shape[0]):
            rows = slice(start, start + 2)
            out[rows] += x[rows] * (start + 1)
        return out


@pytest.mark.parametrize(
    "module",
    [Extended(), BetweenOthers(), InLoops(), Sizes(), ComputedPlaces()],
    ids=lambda one: type(one).__name__,
)
def test_lists_are_put_together_as_in_python(module: nn.Module, tmp_path: Path) -> None:
    file = Scripted(module, torch.rand(4, 3), tmp_path / "m.onnx")
    for rows in (1, 2, 5):
        x = torch.randn(rows, 3)
        (got,) = file.answers(x)
        np.testing.assert_allclose(got, module(x).numpy(), rtol=1e-6)
