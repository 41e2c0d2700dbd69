"""Norms of float64 against eager."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

CLOSE = 1e-14


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("eps", [None, 1e-5])
@pytest.mark.parametrize("dims", [(4,), (3, 4)])
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0])
def test_norms_by_the_mean_square_are_eagers(
    dims: tuple[int, ...], eps: float | None, scale: float
) -> None:
    rows = drawn(4, 3, 4) * scale
    assert_as_eager("aten::rms_norm", rows, dims, None, eps, rounding=CLOSE)
    assert_as_eager("aten::rms_norm", rows, dims, drawn(*dims), eps, rounding=CLOSE)


@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 3), (5, 4, 3, 2)])
def test_batch_norm_of_statistics_is_eagers(shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    one = x.transpose(0, 1).reshape(4, -1)[:, 0]
    rest = (False, 0.1, 1e-3, False)
    assert_as_eager("aten::batch_norm", x, one, one + 1, one - 1, one.abs(), *rest)
    assert_as_eager("aten::batch_norm", x, None, None, one - 1, one.abs(), *rest)
    native = "aten::_native_batch_norm_legit_no_training"
    assert_as_eager(native, x, one, one + 1, one - 1, one.abs(), *rest[1:3])
    applies = DECOMPOSITIONS["aten::batch_norm"].applies
    assert applies(x, one, one, one, one.abs(), *rest)
    assert not applies(x.float(), one, one, one, one.abs(), *rest)
    assert applies(x.float(), one, one, one, one.abs(), True, *rest[1:])
    assert not applies(x, one, one, None, None, True, *rest[1:])
