from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    PerturbedArithmeticUnavailable,
    in_float64,
)
from modelexport_exporter.verification.numerics.random_rounding import with_random_rounding


class Cache(nn.Module):
    """Writes into a view of a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(4, 8))

    def forward(self, x: Tensor) -> Tensor:
        cache = self.get_buffer("cache").clone()
        cache[:, 2:4] = x[:, :2] / 3
        return cache.cumsum(1)


class Casting(nn.Module):
    """Names its types, and makes numbers of its own."""

    def forward(self, x: Tensor) -> Tensor:
        steps = torch.arange(8, dtype=torch.float32) / 7
        return x.to(torch.float32).float() * steps + torch.full((8,), 0.1)


def seeded(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return make().eval()


ROWS = torch.randn(4, 8, generator=torch.Generator().manual_seed(1))
IMAGES = torch.randn(2, 3, 9, 9, generator=torch.Generator().manual_seed(1))
MODELS = [
    pytest.param(lambda: nn.Linear(8, 4), ROWS, id="linear"),
    pytest.param(lambda: nn.Sequential(nn.Linear(8, 8), nn.PReLU()), ROWS, id="prelu"),
    pytest.param(
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 2, 3)),
        IMAGES,
        id="convolutions with biases",
    ),
    pytest.param(
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), ROWS[None], id="attention"
    ),
    pytest.param(Cache, ROWS, id="writing into a view"),
    pytest.param(Casting, ROWS, id="casts"),
    pytest.param(lambda: torch.jit.script(nn.Linear(8, 4)), ROWS, id="scripted"),
]


@pytest.mark.parametrize(("make", "x"), MODELS)
def test_in_float64_equals_the_converted_module(make: Callable[[], nn.Module], x: Tensor) -> None:
    module = seeded(make)
    got = in_float64(lambda: module(x))
    assert got.dtype is torch.float64
    with torch.no_grad():
        plain = module(x)
        distance = (got - plain).abs().max()
    assert 0 < distance < 1e-5
    if not isinstance(module, Cache | Casting):
        with torch.no_grad():
            expected = module.double()(x.double())
        assert torch.allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("make", "x"), MODELS)
def test_random_rounding_moves_by_rounding_and_keeps_dtypes(
    make: Callable[[], nn.Module], x: Tensor
) -> None:
    module = seeded(make)
    with torch.no_grad():
        plain = module(x)
    one, again, other = (with_random_rounding(lambda: module(x), seed) for seed in (1, 1, 2))
    assert one.dtype is plain.dtype
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert (one - plain).abs().max() < 1e-5


def test_exact_results_stay() -> None:
    x = torch.tensor([0.5, 1.5, -2.5, 0.0, float("inf")])

    def round_halves() -> Tensor:
        return (x * 2 / 2 + 1 - 1).round()

    assert torch.equal(with_random_rounding(round_halves, seed=3), x.round())


def test_decision_that_depends_on_rounding_goes_both_ways() -> None:
    third = torch.full((64,), 1 / 3)

    def reaches_one() -> Tensor:
        return (third * 3.0 / 7.0 * 7.0 >= 1).float()

    decided = [with_random_rounding(reaches_one, seed) for seed in (1, 2, 3)]
    assert 0 < torch.stack(decided).mean() < 1


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_recurrent_layers_run_in_float64_after_other_layers(
    kind: Callable[[int, int], nn.RNNBase],
) -> None:
    module = seeded(lambda: nn.Sequential(nn.Linear(8, 8), kind(8, 4)))
    outputs, _ = in_float64(lambda: module(ROWS))
    expected, _ = module.double()(ROWS.double())
    assert torch.allclose(outputs, expected, rtol=1e-12, atol=1e-12)


class Particular(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        doubled = x * 2
        if doubled.dtype is not torch.float32:
            raise TypeError(f"expected float32, got {doubled.dtype}")
        return doubled / 3


def test_dtype_check_in_the_models_code_makes_float64_unavailable() -> None:
    with pytest.raises(PerturbedArithmeticUnavailable, match="expected float32, got"):
        in_float64(lambda: Particular()(ROWS))
    assert torch.get_default_dtype() is torch.float32
    assert with_random_rounding(lambda: Particular()(ROWS), 1).dtype is torch.float32


def test_reading_the_bits_of_a_float_is_unavailable() -> None:
    with pytest.raises(PerturbedArithmeticUnavailable, match="reads the bits"):
        in_float64(lambda: ROWS.view(torch.int32))


@pytest.mark.parametrize(
    "decide",
    [
        lambda x: x <= 0.4,
        lambda x: torch.where(x > 0.4, 1.0, 0.0),
        lambda x: x[0:] == torch.tensor(0.4),
        lambda x: torch.nn.functional.threshold(x, 0.4, 20.0),
    ],
)
def test_decisions_at_a_number_that_is_no_float32_do_not_depend_on_rounding(
    decide: Callable[[Tensor], Tensor],
) -> None:
    x = torch.tensor([0.4, 0.3, 0.5])
    expected = decide(x)
    assert torch.allclose(in_float64(lambda: decide(x)).double(), expected.double())
    assert torch.allclose(with_random_rounding(lambda: decide(x), 1).double(), expected.double())
