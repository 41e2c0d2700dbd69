"""Which dim of a call can have several sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from operators.growing import Dynamic, dynamic_dim

A, B = torch.rand(5, 3), torch.rand(5, 5)
INDEX = torch.tensor([0, 4, 2])


@pytest.mark.parametrize(
    ("tensors", "function", "dynamic"),
    [
        ((A, A), torch.add, Dynamic(((0, 0), (1, 0)), 3, 5)),
        ((A, torch.rand(5, 1)), torch.add, Dynamic(((0, 0), (1, 0)), 3, 5)),
        ((B,), torch.linalg.inv, Dynamic(((0, 0), (0, 1)), 3, 5)),
        # The indices go up to 4: the dim is only made larger.
        ((A, INDEX), lambda x, at: x[at], Dynamic(((0, 0),), 5, 7)),
        # Five rows, and no others.
        ((A,), lambda x: x.split([2, 3]), Dynamic(((0, 1),), 2, 3)),
        ((torch.rand(5, 1),), lambda x: x.split([2, 3]), None),
        ((torch.tensor(1.0),), torch.neg, None),
    ],
)
def test_dims(
    tensors: tuple[torch.Tensor, ...], function: Callable[..., Any], dynamic: Dynamic | None
) -> None:
    assert dynamic_dim([tensors], function) == dynamic


def test_all_draws_count() -> None:
    large = (A, INDEX)
    small = (A, torch.tensor([0, 1, 0]))
    take: Callable[..., Any] = lambda x, at: x[at]  # noqa: E731 - a row of the table
    assert dynamic_dim([small], take) == Dynamic(((0, 0),), 3, 5)
    assert dynamic_dim([small, large], take) == Dynamic(((0, 0),), 5, 7)


def test_a_dim_is_cut_or_repeated() -> None:
    dynamic = Dynamic(((0, 1),), 2, 7)
    assert dynamic.resized((A,), 2)[0].equal(A[:, :2])
    assert dynamic.resized((A,), 4)[0].equal(torch.cat([A, A[:, :1]], 1))
    assert [dynamic.size(number) for number in range(7)] == [2, 3, 4, 5, 6, 7, 2]
