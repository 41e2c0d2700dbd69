"""The rounding of complex numbers and of Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from modelexport_exporter.verification.numerics.perturbed_arithmetic import in_float64
from modelexport_exporter.verification.numerics.random_rounding import with_random_rounding

EPS = torch.finfo(torch.float32).eps
SIGNAL = torch.randn(4, 64, generator=torch.Generator().manual_seed(1))
SPECTRUM = torch.fft.fft(SIGNAL + 1j * SIGNAL.flip(1))


def moved(function: Callable[[Tensor], Tensor], x: Tensor, runs: int = 16) -> Tensor:
    """Return the largest distance of each element from eager over some runs."""
    expected = function(x)
    results = [with_random_rounding(lambda: function(x), seed) for seed in range(runs)]
    assert {result.dtype for result in results} == {expected.dtype}
    return torch.stack([(result - expected).abs() for result in results]).amax(0)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (torch.fft.fft, SIGNAL),
        (torch.fft.rfft, SIGNAL),
        (torch.fft.fft2, SPECTRUM),
        (torch.fft.ifft, SPECTRUM),
        (torch.fft.irfft, SPECTRUM),
        (lambda z: z * z.roll(1), SPECTRUM),
        (lambda z: z @ z.mT, SPECTRUM),
        (torch.exp, SPECTRUM / 100),
    ],
)
def test_complex_results_move_by_rounding(function: Callable[[Tensor], Tensor], x: Tensor) -> None:
    expected = function(x)
    distances = moved(function, x)
    size = expected.abs().square().mean().sqrt()
    assert 0.3 * EPS * size < distances.max() < 20 * EPS * expected.abs().max()
    wide = in_float64(lambda: function(x))
    assert wide.dtype in (torch.complex128, torch.float64)
    assert (wide - expected).abs().max() < 20 * EPS * expected.abs().max()


@pytest.mark.parametrize("function", [torch.fft.rfft, torch.fft.fft])
def test_frequencies_that_are_real_stay_so(function: Callable[[Tensor], Tensor]) -> None:
    for seed in range(4):
        spectrum = with_random_rounding(lambda: function(SIGNAL), seed)
        assert not spectrum[:, (0, 32)].imag.any()
        assert spectrum.imag.any()


def test_the_phase_of_a_rounding_error_goes_both_ways() -> None:
    # A tone and silence: the spectrum is zero but for one frequency, or everywhere.
    tone = torch.cos(torch.arange(64.0) * (2 * torch.pi * 4 / 64))
    phases = moved(lambda x: torch.fft.rfft(x).angle(), torch.stack([tone, torch.zeros(64)]))
    others = torch.arange(33) % 32 != 0
    assert (phases[0][others & (torch.arange(33) != 4)] > 0.1).all()
    assert phases[0][4] < 1e-5
    assert not phases[1].any(), "silence is exact"


def test_sums_of_complex_numbers_move_part_by_part() -> None:
    z = torch.complex(torch.full((8,), 1e6), torch.full((8,), 1e-6))
    distance = moved(lambda z: torch.view_as_real(z + 1j / 3), z)
    assert distance[:, 1].max() < EPS
    assert not distance[:, 0].any()


def test_a_product_with_a_real_number_stays_real() -> None:
    z = torch.complex(SIGNAL, torch.zeros_like(SIGNAL))
    for seed in range(4):
        assert not with_random_rounding(lambda: z * (1 / 3), seed).imag.any()
