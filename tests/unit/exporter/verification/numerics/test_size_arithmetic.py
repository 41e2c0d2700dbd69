"""What a model decides on sizes alone does not move with rounding."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from modelexport_exporter.verification.numerics.perturbed_arithmetic import in_float64
from modelexport_exporter.verification.numerics.random_rounding import with_random_rounding

BIAS = torch.arange(16, dtype=torch.float32) ** 2
Model = Callable[[torch.Tensor], torch.Tensor]


def buckets(x: torch.Tensor) -> torch.Tensor:
    """Return x with the bias of T5's relative positions: bucket 10 begins at exactly 16."""
    distance = torch.arange(x.shape[0]).clamp(min=1)
    far = 8 + (torch.log(distance.float() / 8) / math.log(16.0) * 8).long()
    return x + BIAS[torch.where(distance < 8, distance, far.clamp(max=15))]


def steps(x: torch.Tensor) -> torch.Tensor:
    scaled = torch.linspace(0, 1, x.shape[0]) * 0.1 / 0.1
    return x + torch.floor(torch.exp(torch.log(torch.ones_like(x) * 3)) * 100) + (scaled > 0.5)


def window(x: torch.Tensor) -> torch.Tensor:
    """Return x where a mask, written in place, is true."""
    mask = torch.zeros(x.shape[0])
    mask[torch.arange(x.shape[0]) * 0.1 / 0.1 >= 3] = 1
    mask += 0.5
    return torch.where(mask > 1, x, torch.zeros_like(x))


@pytest.mark.parametrize("model", [buckets, steps, window])
def test_decisions_on_sizes_stay(model: Model) -> None:
    x = torch.linspace(-1, 1, 40)
    want = model(x)
    torch.testing.assert_close(in_float64(lambda: model(x)).float(), want)
    for seed in range(8):
        torch.testing.assert_close(with_random_rounding(lambda: model(x), seed), want)


def sinusoid(x: torch.Tensor) -> torch.Tensor:
    rates = torch.exp(torch.arange(8) * -0.3)
    return x + torch.sin(torch.arange(x.shape[0])[:, None] * 100 * rates).sum(1)


def written_from_an_input(x: torch.Tensor) -> torch.Tensor:
    made = torch.zeros(x.shape[0])
    made[1:] = x[1:] / 3
    return torch.floor(made * 3e7)


@pytest.mark.parametrize("model", [sinusoid, written_from_an_input])
def test_noise_is_seen_where_it_is(model: Model) -> None:
    x = torch.linspace(-1, 1, 40)
    want = model(x)
    moved = [with_random_rounding(lambda: model(x), seed) for seed in range(4)]
    assert any((one != want).any() for one in moved)


def test_a_number_that_python_reads_is_eagers() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        count = int((torch.tensor(0.1) * 30 / 3).item() * 10)  # 10 in float32, 9.99… perturbed
        return x[:count]

    x = torch.linspace(-1, 1, 40)
    found = {with_random_rounding(lambda: model(x), seed).shape for seed in range(8)}
    assert found == {model(x).shape}
