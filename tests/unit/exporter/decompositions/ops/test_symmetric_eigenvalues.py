"""Eigenvalues and singular values by Jacobi's rotations against eager's."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS
from modelexport_exporter.decompositions.ops.symmetric_eigenvalues import (
    LARGEST,
    eigenvalues,
    symmetric,
)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("rows", range(1, LARGEST + 1))
def test_the_rotations_converge(rows: int) -> None:
    a = drawn(100, rows, rows, seed=rows)
    a[:20] *= torch.logspace(0, 6, rows, dtype=torch.float64)[:, None]
    a[20:40] = a[20:40, :, :1] @ a[20:40, :, :1].mT  # all values but one are 0
    a = symmetric(a, upper=False)
    values, vectors = eigenvalues(a)
    want, size = torch.linalg.eigvalsh(a), torch.linalg.eigvalsh(a).abs().amax(-1, keepdim=True)
    assert ((values.sort()[0] - want).abs() <= 1e-13 * size).all()
    again = (vectors * values.unsqueeze(-2)) @ vectors.mT
    assert ((again - a).abs() <= 1e-13 * size.unsqueeze(-1)).all()


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_triangle_is_read(uplo: str, dtype: torch.dtype) -> None:
    a = drawn(2, 5, 5).to(dtype)
    assert_as_eager("aten::linalg_eigvalsh", a, uplo)
    assert_as_eager("aten::_linalg_eigh", a, uplo, False)


@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 5), (4, 4), (1, 7), (3, 12)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_singular_values_are_eagers(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    a = drawn(*shape).to(dtype)
    assert_as_eager("aten::linalg_svdvals", a)
    assert_as_eager("aten::_linalg_svd", a, False, False)


def test_vectors_have_lapacks_signs_and_are_left_to_it() -> None:
    a = drawn(4, 4)
    assert not DECOMPOSITIONS["aten::_linalg_svd"].applies(a)
    assert not DECOMPOSITIONS["aten::_linalg_eigh"].applies(a)
    assert not DECOMPOSITIONS["aten::linalg_eigvalsh"].applies(drawn(LARGEST + 1, LARGEST + 1))
    assert not DECOMPOSITIONS["aten::linalg_svdvals"].applies(drawn(0, 3))
