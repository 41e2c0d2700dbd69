"""Sums of products with ellipses of several lengths, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

X = torch.arange(24.0).reshape(2, 3, 4).sin()


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij, ...j -> ...i", [(2, 3, 4), (4,)]),
        ("...ij, ...j -> i", [(2, 3, 4), (4,)]),
        ("i..., ...j -> j...i", [(5, 2, 3), (3, 4)]),
        ("...i, ...i -> ...", [(2, 1, 4), (3, 4)]),
        ("a...i, ...i, i -> ...a", [(6, 2, 3, 4), (3, 4), (4,)]),
    ],
)
def test_missing_dims_are_repeated(equation: str, shapes: list[tuple[int, ...]]) -> None:
    operands = [torch.arange(float(torch.Size(shape).numel())).reshape(shape) for shape in shapes]
    assert_as_eager("aten::einsum", equation, operands)


def test_equal_ellipses_are_left_to_torch() -> None:
    applies = DECOMPOSITIONS["aten::einsum"].applies
    assert not applies("...ij,...jk->...ik", [X, X.mT])
    assert not applies("ij,jk", [X[0], X[0].mT])
    assert applies("...ij,...j->...i", [X, X[0, 0]])
