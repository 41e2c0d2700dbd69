"""The simulation of a precision, on modules where the right answer is known."""

from __future__ import annotations

import pytest
import torch

from modelexport_api.spec import Precision
from modelexport_exporter.precision.noise import Simulation


def simulate(
    module: torch.nn.Module, x: torch.Tensor, precision: Precision, seed: int = 0
) -> torch.Tensor:
    tensors = [*module.parameters(), *module.buffers()]
    found: torch.Tensor = Simulation.of(precision, tensors).run(lambda: module(x), seed)
    return found


def error(module: torch.nn.Module, x: torch.Tensor, precision: Precision, seed: int = 0) -> float:
    with torch.no_grad():
        want = module(x)
    return float((simulate(module, x, precision, seed) - want).abs().max() / want.abs().max())


@pytest.fixture
def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 16, 4)
    ).eval()


X = torch.randn(5, 3, 6, 6, generator=torch.Generator().manual_seed(1))


def test_noise_of_a_precision_is_about_its_unit_roundoff(network: torch.nn.Module) -> None:
    assert 5e-5 < error(network, X, Precision.FLOAT16) < 3e-3
    assert 5e-4 < error(network, X, Precision.BFLOAT16) < 3e-2
    assert 5e-4 < error(network, X, Precision.DYNAMIC_INT8) < 5e-2
    assert 5e-4 < error(network, X, Precision.STATIC_INT8) < 8e-2


def test_float16_simulation_is_close_to_torch_in_float16(network: torch.nn.Module) -> None:
    with torch.no_grad():
        half = network.half()(X.half()).float()
    assert float((simulate(network.float(), X, Precision.FLOAT16) - half).abs().max()) < 2e-3


def test_scripted_module_is_simulated(network: torch.nn.Module) -> None:
    scripted = torch.jit.script(network)
    assert error(scripted, X, Precision.FLOAT16) == error(network, X, Precision.FLOAT16)


def test_dynamic_quantization_does_not_quantize_convolutions() -> None:
    convolution = torch.nn.Conv2d(3, 8, 3).eval()
    assert error(convolution, X, Precision.DYNAMIC_INT8) == 0
    assert error(convolution, X, Precision.STATIC_INT8) > 0


def test_products_of_two_activations_are_not_quantized() -> None:
    class Scores(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ x.transpose(-1, -2)

    assert error(Scores(), X, Precision.STATIC_INT8) == 0


def test_values_beyond_the_calibrated_range_are_clamped() -> None:
    linear = torch.nn.Linear(2, 1, bias=False)
    linear.weight.data = torch.ones(1, 2)
    simulation = Simulation.of(Precision.STATIC_INT8, linear.parameters())
    simulation.observe(lambda: linear(torch.tensor([[1.0, 0.5]])))
    found = simulation.run(lambda: linear(torch.tensor([[100.0, 100.0]])))
    assert float(found) == pytest.approx(1.5, abs=0.02)


def test_values_beyond_float16_are_clamped_to_its_largest_number() -> None:
    assert float(simulate(torch.nn.Identity(), torch.ones(1), Precision.FLOAT16)) == 1
    found = simulate(torch.nn.Hardtanh(-1e9, 1e9), torch.full((1,), 1e6), Precision.FLOAT16)
    assert float(found) == 65504


def test_rounding_depends_on_the_seed_only(network: torch.nn.Module) -> None:
    for precision in (Precision.FLOAT16, Precision.STATIC_INT8):
        nearest, one, other = (simulate(network, X, precision, seed) for seed in (0, 1, 2))
        assert not torch.equal(nearest, one)
        assert not torch.equal(one, other)
        assert torch.equal(one, simulate(network, X, precision, 1))
