"""Decisions of scripts on Python numbers: in double, and with Python's division of integers."""

from __future__ import annotations

import math
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


class Root(nn.Module):
    """The root of an integer that float32 does not hold."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        root = int(math.sqrt(int(x)))
        return torch.ones(2) if root * root == int(x) else torch.zeros(2) + root % 10


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


class Magnitude(nn.Module):
    """abs() of a float that decides, and of an integer."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        off = abs(x.item() - 0.1)
        if off * 0.1 >= 0.03:
            return torch.ones(2) * abs(int(x) - 3)
        return torch.zeros(2) + off


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
        *((Root(), number) for number in (16_785_409, 999_998_000_001, 999_998_000_000, 10**12)),
        *((Level(), number) for number in (0.1, 0.3, 0.30000001192092896, 0.5, -1.0)),
        *((OtherMethod(), cents) for cents in (100_000_000, 100_000_001)),
        *((CallsFunction(), cents) for cents in (100_000_000, 100_000_001)),
        *((Product(), number) for number in (0, 3, 10**9, 10**9 + 1, 3_037_000_500, 2**32)),
        *((Product(), number) for number in (2**62, -(10**6), -(10**6) - 1, -(2**40), -(2**62))),
        *((Inner(), number) for number in (0.1, 0.3)),
        *((Truncated(), number) for number in (2.7, -2.7, 3, -1, 2**24 + 1)),
        *((Magnitude(), number) for number in (0.4, 0.40000004, -0.2, -0.1, -7.5)),
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


class Total(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = 0.0
        for place in range(x.shape[0]):
            total += x[place].item()
        return x * 2 if total > 1.7 else x


class Rest(nn.Module):
    """Its number is computed on one side of a branch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rest, rounds = 1.0, 0
        for place in range(x.shape[0]):
            if x[place] > 0:
                rest -= x[place].item()
            if rest <= 0:
                return x * place
            rounds += 1
        return x - rounds


class Chosen(nn.Module):
    """A number of Python from one of two sides, one of them a constant."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        share = x[0].item() * 0.1 if x[1] > 0 else x[1].item() * 3.0
        limit = x[2].item() * 2.0 if x[0] > 5 else 0.3
        return x * 2 if share > limit else x * share


def sum_of(x: torch.Tensor) -> float:
    total = 0.0
    for place in range(x.shape[0]):
        total = total + float(x[place])
    return total


class SumOfHelper(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if sum_of(x) > 2.1 else x


class Circle(nn.Module):
    """Scalars of which the script does not know whether they are floats."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one, other = x[0].item(), x[1].item()
        if one * other < 0:
            return x * 3
        return x * 2 if one * one + other * other <= 0.25 else x


class Literal(nn.Module):
    """Two numbers that no float32 holds, and one that its shortest decimal is not."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x[0].item() > 1700000123.0:
            return x * 2
        return x * 3 if x[0].item() * 3.0 > 1.23456789012 else x


class Blend(nn.Module):
    """A number of Python that tensors are compared and computed with, in their dtype."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        limit = 0.3 * x.max().item() + 0.7 * x.mean().item()
        return (x >= limit).float() + (x - limit).eq(0.0).float() * 2


@pytest.mark.parametrize(
    ("module", "numbers", "dtype"),
    [
        (Total(), [0.9, 0.8], torch.float32),
        (Total(), [0.9, 0.8], torch.float64),
        (Total(), [1.7], torch.float64),
        (Rest(), [0.2] * 5, torch.float32),
        (Rest(), [0.5, -1.0, 0.5, 0.1], torch.float32),
        *((Chosen(), [one, 1.0, 0.5], torch.float32) for one in (3.0, 3.0000002, 10.0, 2.0)),
        *((Chosen(), [one, -0.1, 0.05], torch.float32) for one in (3.0, -3.0, 6.0)),
        (SumOfHelper(), [0.3] * 7, torch.float32),
        (SumOfHelper(), [1.05, 1.05], torch.float64),
        (Circle(), [0.3, 0.4], torch.float32),
        (Circle(), [1e-25, -1e-25], torch.float32),
        *((Blend(), [one], torch.float32) for one in (0.8763296008110046, 0.3, 7.7)),
        (Blend(), [0.8763296008110046], torch.float64),
        (Literal(), [1700000110.0], torch.float64),
        (Literal(), [0.41152263014], torch.float64),
        (Literal(), [0.41152263], torch.float64),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else str(value),
)
def test_numbers_of_elements_decide_as_in_python(
    module: nn.Module, numbers: list[float], dtype: torch.dtype, tmp_path: Path
) -> None:
    x = torch.tensor(numbers, dtype=dtype)
    (got,) = Scripted(module, x, tmp_path / "m.onnx").answers(x)
    want = module(x).numpy()
    assert got.dtype == want.dtype
    assert got.tolist() == pytest.approx(want.tolist(), rel=1e-6)
