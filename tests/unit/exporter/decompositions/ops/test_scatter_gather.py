"""Writing to and reading from positions, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

X = torch.arange(12.0).reshape(3, 4) - 4


@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_reductions_at_an_index_are_eagers(reduce: str, include_self: bool) -> None:
    index = torch.tensor([0, 2, 0])
    assert_as_eager("aten::index_reduce", X, 0, index, X + 1, reduce, include_self=include_self)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
@pytest.mark.parametrize("include_self", [True, False])
def test_scattered_means_are_eagers(dtype: torch.dtype, include_self: bool) -> None:
    index = torch.tensor([[0, 0, 1, 1], [2, 0, 2, 2], [0, 1, 2, 0]])
    x = X.to(dtype)
    named = {"include_self": include_self}
    assert_as_eager("aten::scatter_reduce.two", x, 0, index, 3 * x, "mean", **named)


@pytest.mark.parametrize("reduce", ["add", "multiply"])
def test_scattering_with_a_reduction_is_eagers(reduce: str) -> None:
    index = torch.tensor([[0, 0, 1, 1]])
    assert_as_eager("aten::scatter.reduce", X, 0, index, X[1:2], reduce=reduce)
    assert_as_eager("aten::scatter.value_reduce", X, 0, index, 3.0, reduce=reduce)


@pytest.mark.parametrize("accumulate", [False, True])
def test_put_is_eagers(accumulate: bool) -> None:
    index = torch.tensor([[0, 5], [-1, -4]])
    assert_as_eager("aten::put", X, index, torch.rand(2, 2), accumulate)


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 3])
def test_a_diagonal_is_written_as_eager_does(offset: int) -> None:
    src = torch.rand(X.diagonal(offset).shape)
    assert_as_eager("aten::diagonal_scatter", X, src, offset)
    assert_as_eager("aten::diagonal_scatter", X.mT, src, -offset)


def test_selecting_by_a_mask_is_eagers() -> None:
    assert_as_eager("aten::masked_select", X, X > 0)
    assert_as_eager("aten::masked_select", X, torch.tensor([True, False, True, False]))


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [((), (), 3), ((3,), (2,), 0), ((2, 2), (1, 4), 1), ((2, 1, 2), (4, 7, 1), None)],
)
def test_writing_to_a_view_of_memory_is_eagers(
    size: tuple[int, ...], stride: tuple[int, ...], offset: int | None
) -> None:
    name = "aten::as_strided_scatter"
    assert_as_eager(name, X, torch.rand(size), size, stride, offset)
    assert not DECOMPOSITIONS[name].applies(X.mT, torch.rand(size), size, stride, offset)


def test_numbers_are_scattered() -> None:
    number, zero = torch.tensor(2.0), torch.tensor(0)
    assert_as_eager("aten::scatter_add", number, 0, zero, number + 1)
    for reduce in ("prod", "mean", "amax"):
        assert_as_eager("aten::index_reduce", number, 0, zero.reshape(1), number + 1, reduce)


@pytest.mark.parametrize("size", [0, 2, 9, 20])
def test_places_of_nonzeros_are_cut_or_filled(size: int) -> None:
    for x in (X, X > 3, X[0].long(), X[0, 0]):
        assert_as_eager("aten::nonzero_static", x, size=size, fill_value=-7)
