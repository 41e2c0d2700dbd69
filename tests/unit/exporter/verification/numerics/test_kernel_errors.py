from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.verification.numerics.kernel_errors import UNITS, KernelErrors

X = torch.linspace(-30, 30, 400).reshape(20, 20)
ONE = UNITS * 2.0**-24


@pytest.mark.parametrize(
    ("function", "largest"),
    [
        (torch.sigmoid, ONE),
        (F.silu, 30 * ONE),
        (lambda x: F.glu(x, 0), 30 * ONE),
        (F.glu, 30 * ONE),
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
        moved = torch.softmax(torch.tanh(X), -1)
    assert not mode.found
    assert torch.equal(moved, torch.softmax(torch.tanh(X), -1))
