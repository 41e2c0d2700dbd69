"""Attention against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
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
