"""Activations against eager."""

from __future__ import annotations

import torch

from decomposed import assert_as_eager

X = torch.randn(2, 3, 8, 7, generator=torch.Generator().manual_seed(1))


def test_activations_with_further_arguments_are_eagers() -> None:
    assert_as_eager("aten::elu", X, 0.7, 1.3, 0.6)
    assert_as_eager("aten::elu", torch.tensor([float("inf"), -float("inf")]), 0.7, 1.3, 0.6)
    assert_as_eager("aten::rrelu", X)
    assert_as_eager("aten::softmax.int", X, 1, torch.float64)
    assert_as_eager("aten::log_softmax.int", X, 1, torch.float64)
