"""Losses against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

X = torch.randn(2, 3, 8, 7, generator=torch.Generator().manual_seed(1))


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


def test_a_class_of_no_probability_costs_an_infinite_loss() -> None:
    logits = torch.tensor([0.0, -float("inf"), 1.0])
    for target in (0, 1):
        assert_as_eager("aten::cross_entropy_loss", logits, torch.tensor(target))
