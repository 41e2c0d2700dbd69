from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from modelexport_exporter.verification.numerics.stable_rankings import StableRankings

NAN = float("nan")
TIED = torch.tensor([[0.0, 2.0, 0.0, 2.0, 1.0, 2.0, 0.0, 1.0, 2.0] * 30])
"""Long enough for the algorithms of torch that do not keep the order of equal values."""
ONES = (TIED[0] == 1).nonzero().squeeze(-1)
TWOS = (TIED[0] == 2).nonzero().squeeze(-1)
ZEROS = (TIED[0] == 0).nonzero().squeeze(-1)
ASCENDING = torch.cat([ZEROS, ONES, TWOS])


@pytest.mark.parametrize(
    ("rank", "positions"),
    [
        (lambda x: x.topk(5), TWOS[:5]),
        (lambda x: x.topk(95, largest=False), ASCENDING[:95]),
        (lambda x: torch.topk(x.t(), 5, 0), TWOS[:5]),
        (lambda x: x.topk(5, sorted=False), TWOS[:5]),
        (lambda x: x.sort(), ASCENDING),
        (lambda x: x.sort(descending=True), torch.cat([TWOS, ONES, ZEROS])),
        (lambda x: x.sort(stable=True, dim=-1), ASCENDING),
        (lambda x: (None, x.argsort()), ASCENDING),
        (lambda x: x.kthvalue(100), ASCENDING[99:100]),
        (lambda x: x.kthvalue(100, keepdim=True), ASCENDING[99:100]),
        (lambda x: x.median(dim=-1), ASCENDING[134:135]),
        (lambda x: x.nanmedian(-1, keepdim=True), ASCENDING[134:135]),
    ],
)
def test_the_first_of_equal_values_comes_first(
    rank: Callable[[Tensor], tuple[Tensor, Tensor]], positions: Tensor
) -> None:
    with StableRankings():
        _, found = rank(TIED)
    assert found.flatten().tolist() == positions.tolist()


@pytest.mark.parametrize(
    "rank",
    [
        lambda x: x.topk(3),
        lambda x: x.topk(0),
        lambda x: x.sort(descending=True),
        lambda x: x.kthvalue(2),
        lambda x: x.median(0),
        lambda x: x.nanmedian(0),
        lambda x: (x.median(), x.nanmedian()),
    ],
)
@pytest.mark.parametrize("values", [[3.0, 1.0, 2.0, 5.0], [3.0, NAN, 2.0, 5.0, 4.0], [NAN] * 3])
def test_distinct_values_and_nan_are_ranked_as_ever(
    rank: Callable[[Tensor], tuple[Tensor, Tensor]], values: list[float]
) -> None:
    x = torch.tensor(values)
    with StableRankings():
        ranked = rank(x)
    for one, other in zip(ranked, rank(x), strict=True):
        assert torch.equal(one.nan_to_num(nan=-1.0), other.nan_to_num(nan=-1.0))


def test_one_value_without_dims() -> None:
    with StableRankings():
        value, position = torch.tensor(2.0).topk(1)
    assert (value.item(), position.item()) == (2.0, 0)
