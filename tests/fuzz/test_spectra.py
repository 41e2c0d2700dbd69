"""Eager's transforms with another rounding."""

from __future__ import annotations

import torch

from fuzz.rounding import rerun

SIGNAL = torch.randn(3, 16, generator=torch.Generator().manual_seed(0))


def test_a_spectrum_moves_by_its_root_mean_square() -> None:
    tone = torch.cos(torch.arange(16.0) * (2 * torch.pi * 3 / 16))
    expected = torch.fft.rfft(tone)
    others = rerun(lambda: torch.fft.rfft(tone), range(1, 30))
    distance = torch.stack([other - expected for other in others]).abs().amax(0)
    size = expected.abs().square().mean().sqrt()
    assert (distance[1:-1] > 1e-8 * size).all()
    assert (distance < 2e-7 * size).all()


def test_exact_zeros_stay() -> None:
    for other in rerun(lambda: torch.fft.fft(SIGNAL), range(1, 10)):
        assert not other[:, (0, 8)].imag.any()
        assert (other[:, 1:8].imag != torch.fft.fft(SIGNAL)[:, 1:8].imag).any()
    for other in rerun(lambda: torch.fft.rfft(torch.zeros(16)), range(1, 4)):
        assert not other.any()


def test_real_results_move() -> None:
    spectrum = torch.fft.rfft(SIGNAL)
    expected = torch.fft.irfft(spectrum)
    (other,) = rerun(lambda: torch.fft.irfft(spectrum), [1])
    assert other.dtype == torch.float32
    assert 0 < (other - expected).abs().max() < 1e-6
