"""Frequencies, windows and the inverse short-time transform against eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from decomposed import assert_as_eager, assert_same
from modelexport_exporter.decompositions.ops.fft import istft

X = torch.randn(2, 3, 8, 7, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("n", [6, 7])
def test_frequencies_and_windows_are_eagers(n: int) -> None:
    assert_as_eager("aten::fft_fftfreq", n, 0.5)
    assert_as_eager("aten::fft_rfftfreq", n, 0.5)
    for periodic in (True, False):
        assert_as_eager("aten::kaiser_window.beta", n, periodic, 8.0)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("onesided", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("length", [None, 40])
def test_istft_is_eagers(
    center: bool, onesided: bool, normalized: bool, length: int | None
) -> None:
    window = torch.hann_window(6) + 0.1 if center else torch.ones(8)
    options: dict[str, Any] = {"center": center, "onesided": onesided, "normalized": normalized}
    signal = X[0, :, :, :6].reshape(3, 48)
    spectrum = torch.stft(signal, 8, 2, len(window), window, return_complex=True, **options)
    arguments = (spectrum, 8, 2, len(window), window)
    want = torch.istft(*arguments, length=length, **options)
    assert_same(want, istft(*arguments, length=length, **options))
