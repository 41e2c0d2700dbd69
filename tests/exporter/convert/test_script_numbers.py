"""Decisions of scripts on Python numbers: in double, and with Python's division of integers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from exporter.convert.scripted import Scripted


class Discount(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        euros = x.item() * 0.01
        if euros > 1000000.0:
            return torch.ones(2)
        return torch.zeros(2)


class IsEven(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if int(x) / 2 == int(x) // 2:
            return torch.ones(2)
        return torch.zeros(2)


class Quotient(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        number = int(x) // 3
        if number % 7 == 2:
            return torch.ones(2) * number
        return torch.zeros(2) + number


class Level(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.item() > 0.1:
            return torch.ones(2)
        if -x.item() + 1 > 0.7:
            return torch.full((2,), 2.0)
        return torch.zeros(2)


class Mixed(nn.Module):
    """A number that decides, and meets a tensor, too."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        share = float(x) * 0.1
        y = torch.arange(3.0) * share
        if share > 0.3:
            return y
        return y + int(share * 10)


class Truncated(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.arange(3) * int(x) + int(x.item()) + int(float(x) * 2)


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = Level()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.part(x) + 1
        return y


class OtherMethod(nn.Module):
    """Its part is called by another method than forward, as nn.LSTM is compiled."""

    class Part(nn.Module):
        @torch.jit.export
        def decide(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ones(2) if x.item() * 0.01 > 1000000.0 else torch.zeros(2)

    def __init__(self) -> None:
        super().__init__()
        self.part = OtherMethod.Part()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.part.decide(x)
        return y


def is_large(cents: float) -> bool:
    return cents * 0.01 > 1000000.0


class CallsFunction(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ones(2) if is_large(x.item()) else torch.zeros(2)


class Product(nn.Module):
    """Python's integers have no end: what is beyond int64 is still larger than 10^18."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        square = int(x) * int(x)
        if square * int(x) < -(10**18):
            return torch.full((2,), 3.0)
        if square > 10**18:
            return torch.ones(2)
        if int(x) > 0:
            return torch.zeros(2) + square % 7
        return torch.zeros(2)


@pytest.mark.parametrize(
    ("module", "number"),
    [
        *((Discount(), cents) for cents in (99_999_999, 100_000_000, 100_000_001, 100_000_004)),
        *((IsEven(), number) for number in (0, 1, -1, 16_777_216, 16_777_217, 2**53 - 1)),
        *((Quotient(), number) for number in (-50, -49, -48, -1, 0, 1, 6, 7, 2**53 + 1)),
        *((Level(), number) for number in (0.1, 0.3, 0.30000001192092896, 0.5, -1.0)),
        *((OtherMethod(), cents) for cents in (100_000_000, 100_000_001)),
        *((CallsFunction(), cents) for cents in (100_000_000, 100_000_001)),
        *((Product(), number) for number in (0, 3, 10**9, 10**9 + 1, 3_037_000_500, 2**32)),
        *((Product(), number) for number in (2**62, -(10**6), -(10**6) - 1, -(2**40), -(2**62))),
        *((Inner(), number) for number in (0.1, 0.3)),
        *((Truncated(), number) for number in (2.7, -2.7, 3, -1, 2**24 + 1)),
        *((Mixed(), number) for number in (3.0, 2.9999998, 5.5, -1.0)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else str(value),
)
def test_a_number_decides_as_in_python(module: nn.Module, number: float, tmp_path: Path) -> None:
    x = torch.tensor(number)
    (got,) = Scripted(module, x, tmp_path / "m.onnx").answers(x)
    want = module(x).numpy()
    assert got.dtype == want.dtype
    assert got.tolist() == pytest.approx(want.tolist(), rel=1e-6)
