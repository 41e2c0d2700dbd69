"""Variances of no more elements than the correction against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

NAMES = [f"aten::{name}.correction" for name in ("var", "std", "var_mean", "std_mean")]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("shape", "dim", "correction"),
    [((0, 5), [0], 1), ((0, 5), None, 0), ((2, 5), [0], 2), ((2, 5), [0], 3), ((1, 4), [0], None),
     ((), None, 1), ((3, 2), [0, 1], 7)],
)  # fmt: skip
@pytest.mark.parametrize("keepdim", [False, True])
def test_few_elements_have_eagers_variance(
    name: str,
    shape: tuple[int, ...],
    dim: list[int] | None,
    correction: float | None,
    keepdim: bool,
) -> None:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    named = {"correction": correction, "keepdim": keepdim}
    assert DECOMPOSITIONS[name].applies(x, dim, **named)
    assert_as_eager(name, x, dim, **named)


@pytest.mark.parametrize("name", NAMES)
def test_others_are_left_to_torch(name: str) -> None:
    applies = DECOMPOSITIONS[name].applies
    assert not applies(torch.ones(3, 2), [0], correction=2)
    assert not applies(torch.ones(3, 2), correction=None)
