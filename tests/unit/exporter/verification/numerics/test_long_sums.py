"""Long sums, and the means inside of normalisations, in another order of additions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from modelexport_exporter.verification.numerics.random_rounding import with_random_rounding


def moved(call: Callable[[], Tensor]) -> Tensor:
    """Return how far the result moves with random rounding."""
    rounded: Tensor = with_random_rounding(call, seed=1)
    return (rounded - call()).abs()


@pytest.mark.parametrize("reduce", [lambda x: x.sum(-1), lambda x: x.var(-1)])
def test_long_sums_have_many_roundings(reduce: Callable[[Tensor], Tensor]) -> None:
    """Another order of additions is no difference of the model.

    From 16,384 numbers on a file adds in stages.
    """

    def relative(terms: int) -> float:
        x = torch.rand(64, terms, generator=torch.Generator().manual_seed(2))
        return float((moved(lambda: reduce(x)) / reduce(x)).max())

    assert relative(200) < 4e-7
    assert 5e-7 < relative(1000) < 4e-6
    assert 2e-6 < relative(16_384) < 1e-5
    assert 2e-6 < relative(200_000) < 1e-5


@pytest.mark.parametrize(("number", "exact"), [(1.0, True), (0.375, True), (65025.0, False)])
def test_long_sums_of_small_numbers_are_exact(number: float, exact: bool) -> None:
    """A count stays a count in any order; squares of white pixels exceed what float32 counts."""
    x = torch.full((64, 100_000), number)
    assert bool((moved(lambda: x.sum(-1)) / x.sum(-1)).max() < 4e-7) is exact


@pytest.mark.parametrize("reduce", [lambda x: x.sum(-1), lambda x: x.mean(-1)])
def test_long_sums_that_cancel_have_the_rounding_of_their_partial_sums(
    reduce: Callable[[Tensor], Tensor],
) -> None:
    """The mean of 20,000 normal numbers may be zero, and its error is not."""
    x = torch.randn(1, 20_000, generator=torch.Generator().manual_seed(2))
    centred = x - x.to(torch.float64).mean().to(torch.float32)
    typical = reduce(centred.abs()) / 141
    assert 1e-7 < float(moved(lambda: reduce(centred)) / typical) < 1e-4


@pytest.mark.parametrize("reduce", [lambda x: x.sum(0), lambda x: x.mean(0)])
def test_a_column_has_the_rounding_of_its_own_numbers(reduce: Callable[[Tensor], Tensor]) -> None:
    x = torch.rand(10_000, 2, generator=torch.Generator().manual_seed(2)) * torch.tensor([1.0, 1e6])
    assert float((moved(lambda: reduce(x)) / reduce(x)).max()) < 4e-5


def test_running_sums_have_the_rounding_of_the_largest() -> None:
    x = torch.cat([torch.rand(1, 10_000), -torch.rand(1, 10_000)], -1)
    moves = moved(lambda: x.cumsum(-1)) / x.cumsum(-1).max()
    assert 3e-8 < float(moves[0, -100:].max()) <= float(moves.max()) < 1e-6


CHANNELS = torch.full((2, 8, 16, 16), 0.3) + torch.arange(8).reshape(1, 8, 1, 1) * 1e-4
ORDINARY = torch.randn(2, 8, 16, 16, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize(
    "normalise",
    [
        pytest.param(nn.GroupNorm(4, 8), id="groups"),
        pytest.param(nn.GroupNorm(2, 8, affine=False), id="groups without weights"),
        pytest.param(nn.LayerNorm([8, 16, 16]), id="layer"),
        pytest.param(lambda x: functional.layer_norm(x, [8, 16, 16]), id="layer without weights"),
        pytest.param(functional.instance_norm, id="instances"),
    ],
)
def test_means_of_nearly_constant_slices_are_rounded(normalise: Callable[[Tensor], Tensor]) -> None:
    """The inverse of a small standard deviation amplifies the error of the mean."""
    with torch.no_grad():
        nearly_constant = float(moved(lambda: normalise(CHANNELS)).max())
        ordinary = float(moved(lambda: normalise(ORDINARY)).max())
    assert 3e-6 < nearly_constant < 1e-3
    assert ordinary < 3e-6


def test_statistics_of_training_are_not_rounded() -> None:
    norm = nn.BatchNorm2d(8).eval()
    with torch.no_grad():
        assert float(moved(lambda: norm(CHANNELS)).max()) < 3e-7


PIXELS = torch.randint(0, 256, (2, 3, 8, 8), generator=torch.Generator().manual_seed(4)).float()
SOBEL = torch.tensor([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]]).expand(1, 3, 3, 3)


@pytest.mark.parametrize(
    "compute",
    [
        pytest.param(lambda x: x.reshape(2, 3, 4, 2, 4, 2).mean((3, 5)), id="mean of four"),
        pytest.param(lambda x: functional.conv2d(x, SOBEL), id="sobel"),
        pytest.param(
            lambda x: functional.conv2d(x, SOBEL / 4, torch.tensor([0.5])), id="with bias"
        ),
    ],
)
def test_what_is_exact_in_any_order_does_not_move(compute: Callable[[Tensor], Tensor]) -> None:
    """What rounds halves up or down of it is a difference of the file."""
    assert not moved(lambda: compute(PIXELS)).any()


def test_a_mean_of_three_rounds_its_quotient_only() -> None:
    x = torch.tensor([[1.0, 2.0, 4.0], [2.0, 3.0, 4.0]])
    moves = moved(lambda: x.mean(-1))
    assert 0 < float(moves[0]) < 4e-7
    assert float(moves[1]) == 0
