"""Bags of embeddings, against PyTorch."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from modelexport_exporter.decompositions.ops.embedding_bags import embedding_bag

TABLE = torch.randn(9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
PLACES = torch.tensor([4, 2, 8, 8, 0, 2, 5])
WEIGHTS = torch.tensor([0.5, -1.0, 2.0, 0.0, 1.0, 3.0, -0.25], dtype=torch.float64)
SUM, MEAN, MAX = 0, 1, 2
BAGS = ([0, 3], [0, 0, 4, 4, 7], [0, 2, 7], [0, 1, 2, 6])


@pytest.mark.parametrize("starts", BAGS, ids=str)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_bags_are_those_of_torch(starts: list[int], dtype: torch.dtype) -> None:
    places, offsets = PLACES.to(dtype), torch.tensor(starts, dtype=dtype)
    for mode, has_end, padding in product((SUM, MEAN, MAX), (False, True), (None, 2, -1)):
        for weights in (None, WEIGHTS) if mode == SUM else (None,):
            rest = (offsets, False, mode, False, weights, has_end, padding)
            expected = torch.ops.aten.embedding_bag.padding_idx(TABLE, places, *rest)
            found = embedding_bag(TABLE, places, *rest)
            torch.testing.assert_close(found[0], expected[0], rtol=1e-12, atol=1e-12)


def test_a_single_bag_of_nothing_is_zero() -> None:
    empty, offsets = torch.zeros(0, dtype=torch.int64), torch.tensor([0])
    for mode in (SUM, MEAN, MAX):
        assert embedding_bag(TABLE, empty, offsets, False, mode)[0].tolist() == [[0.0] * 3]
