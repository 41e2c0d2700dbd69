"""Attention against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager, assert_same
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

X = torch.randn(2, 3, 8, 7, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("mask", [None, X[0, 0] @ X[0, 0].mT, X[0, 0] @ X[0, 0].mT > 0])
def test_attention_without_heads_is_eagers(mask: torch.Tensor | None) -> None:
    q = X[:, 0]
    assert_as_eager("aten::scaled_dot_product_attention", q, q + 1, q - 1, mask)
    assert_as_eager("aten::scaled_dot_product_attention", q, q[:, :5], q[:, :5], is_causal=True)


@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_of_doubles_is_eagers(scale: float | None) -> None:
    q = X.double()
    name = "aten::scaled_dot_product_attention"
    assert_as_eager(name, q, q + 1, q - 1, scale=scale, rounding=1e-14)
    assert DECOMPOSITIONS[name].applies(q, q, q)
    assert not DECOMPOSITIONS[name].applies(X, X, X)


LOWEST, INF = torch.finfo(torch.float32).min, float("inf")
ROWS = {
    "nothing is seen": [-INF] * 4,
    "the lowest number throughout": [LOWEST] * 4,
    "one is seen": [-INF, 0.5, -INF, -INF],
    "infinity": [INF, 0.0, -INF, 0.0],
    "NaN": [float("nan"), -INF, -INF, -INF],
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("cuda", [False, True])
def test_a_query_that_sees_nothing_gets_zeros(
    row: list[float], cuda: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with the maximum of onnxruntime on CUDA, which is the lowest number, and not -inf."""
    q, mask = X[:, :, :4, :4], torch.tensor([row, [0.0] * 4, row, row])
    # Eager's kernel without a mask of numbers: that for CPUs returns zeros for NaN.
    expected = torch.ops.aten._scaled_dot_product_attention_math(q, q, q, mask)[0]
    if cuda:
        amax = torch.Tensor.amax
        monkeypatch.setattr(torch.Tensor, "amax", lambda x, *a, **k: amax(x, *a, **k).clamp(LOWEST))
    got = DECOMPOSITIONS["aten::scaled_dot_product_attention"].function(q, q, q, mask)
    assert_same(expected, got)


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_kernel_for_a_cpu_returns_logarithms_of_sums(is_causal: bool) -> None:
    query, key = torch.randn(2, 4, 3, 8), torch.randn(2, 4, 6, 8)
    name = "aten::_scaled_dot_product_flash_attention_for_cpu"
    assert_as_eager(name, query, key, key + 1, 0.0, is_causal)
