from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.torch_internals.one_dnn import without_one_dnn
from modelexport_exporter.verification.numerics.kernel_errors import (
    TANH_UNITS,
    UNITS,
    KernelErrors,
)

X = torch.linspace(-30, 30, 400).reshape(20, 20)
ONE = UNITS * 2.0**-24


@pytest.mark.parametrize(
    ("function", "largest"),
    [
        (torch.sigmoid, ONE),
        (F.silu, 30 * ONE),
        (lambda x: F.glu(x, 0), 30 * ONE),
        (F.glu, 30 * ONE),
        (torch.tanh, TANH_UNITS * 2.0**-24),
        (lambda x: (x * 1.0).sigmoid_(), ONE),
        (lambda x: (x * 1.0).tanh_(), TANH_UNITS * 2.0**-24),
        (lambda x: torch.sigmoid(x.double()), UNITS * 2.0**-53),
    ],
)
def test_errors_are_absolute_and_no_larger_than_the_kernels(
    function: Callable[[Tensor], Tensor], largest: float
) -> None:
    with KernelErrors(0) as mode:
        moved = function(X)
    distance = (moved.double() - function(X).double()).abs()
    assert mode.found
    assert moved.dtype == function(X).dtype
    assert 0.3 * largest < distance.max() < 1.5 * largest


def test_other_ops_are_left_alone() -> None:
    with KernelErrors(0) as mode:
        moved = torch.softmax(torch.relu(X), -1)
    assert not mode.found
    assert torch.equal(moved, torch.softmax(torch.relu(X), -1))


@pytest.mark.parametrize("layer", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_activations_of_recurrent_layers_have_them(layer: type[torch.nn.LSTM]) -> None:
    torch.manual_seed(0)
    module = layer(20, 8, batch_first=True).eval()
    with torch.no_grad(), without_one_dnn(), KernelErrors(0) as mode:
        moved = module(X[None])[0]
    assert mode.found
    with torch.no_grad():
        assert 1e-8 < (moved - module(X[None])[0]).abs().max() < 1e-5
