"""Pools, losses, activations and transforms against eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from decomposed import assert_as_eager, assert_same
from modelexport_exporter.decompositions.ops.fft import istft

X = torch.randn(2, 3, 8, 7, generator=torch.Generator().manual_seed(1))


WINDOWS = [(2, 2, 0), (3, 2, 1), (2, 3, 1), (3, 1, 0)]


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (2, 3, 1), (3, 1, 0)]
)
def test_pools_with_a_divisor_are_eagers(
    kernel: int, stride: int, padding: int, ceil_mode: bool
) -> None:
    window = ([kernel], [stride], [padding])
    assert_as_eager("aten::avg_pool2d", X, *window, ceil_mode, True, 5)
    assert_as_eager("aten::avg_pool2d", X[0], *window, ceil_mode, False, 5)
    assert_as_eager("aten::avg_pool3d", X, *window, ceil_mode, True, 5)


@pytest.mark.parametrize("size", [(1, 1), (3, 4), (8, 7), (5, 2), (9, 10)])
def test_adaptive_pools_are_eagers(size: tuple[int, int]) -> None:
    assert_as_eager("aten::adaptive_avg_pool2d", X, size)
    assert_as_eager("aten::adaptive_max_pool2d", X, size)
    assert_as_eager("aten::adaptive_avg_pool3d", X, (2, *size))
    assert_as_eager("aten::adaptive_max_pool3d", X, (2, *size))
    assert_as_eager("aten::adaptive_max_pool1d", X[0], size[:1])
    assert_as_eager("aten::adaptive_avg_pool1d", X[0], size[:1])


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0, 0.5])])
def test_cross_entropy_is_eagers(
    reduction: int, smoothing: float, weight: torch.Tensor | None
) -> None:
    options = (weight, reduction, 1, smoothing)
    assert_as_eager("aten::cross_entropy_loss", X, X.argmax(1), *options)
    of_all = (weight, reduction, -100, smoothing)
    assert_as_eager("aten::cross_entropy_loss", X, X.softmax(1), *of_all)
    assert_as_eager("aten::cross_entropy_loss", X[0, :, 0, 0], torch.tensor(2), *options)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0])])
@pytest.mark.parametrize("of_positives", [None, torch.tensor([0.5, 3.0])])
def test_binary_cross_entropy_is_eagers(
    reduction: int, weight: torch.Tensor | None, of_positives: torch.Tensor | None
) -> None:
    logits = torch.tensor([[0.0, 300.0], [-300.0, 1e-3], [-0.0, float("inf")]])
    target = torch.tensor([[0.0, 1.0], [1.0, 0.3], [0.5, 1.0]])
    operator = "aten::binary_cross_entropy_with_logits"
    assert_as_eager(operator, logits, target, weight, of_positives, reduction)


@pytest.mark.parametrize("order", [2, 1, 0, float("inf"), -1.5])
def test_norms_that_keep_every_dim_are_eagers(order: float) -> None:
    for dtype in (None, torch.float64):
        assert_as_eager("aten::linalg_vector_norm", X, order, None, True, dtype=dtype)


@pytest.mark.parametrize("mask", [None, X[0, 0] @ X[0, 0].mT, X[0, 0] @ X[0, 0].mT > 0])
def test_attention_without_heads_is_eagers(mask: torch.Tensor | None) -> None:
    q = X[:, 0]
    assert_as_eager("aten::scaled_dot_product_attention", q, q + 1, q - 1, mask)
    assert_as_eager("aten::scaled_dot_product_attention", q, q[:, :5], q[:, :5], is_causal=True)


def test_activations_with_further_arguments_are_eagers() -> None:
    assert_as_eager("aten::elu", X, 0.7, 1.3, 0.6)
    assert_as_eager("aten::elu", torch.tensor([float("inf"), -float("inf")]), 0.7, 1.3, 0.6)
    assert_as_eager("aten::rrelu", X)
    assert_as_eager("aten::softmax.int", X, 1, torch.float64)
    assert_as_eager("aten::log_softmax.int", X, 1, torch.float64)
    assert_as_eager("aten::aminmax", X, dim=1, keepdim=True)
    assert_as_eager("aten::aminmax", X)


@pytest.mark.parametrize("n", [6, 7])
def test_frequencies_and_windows_are_eagers(n: int) -> None:
    assert_as_eager("aten::fft_fftfreq", n, 0.5)
    assert_as_eager("aten::fft_rfftfreq", n, 0.5)
    assert_as_eager("aten::fft_fftshift", X)
    assert_as_eager("aten::fft_ifftshift", X, [2, 3])
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
