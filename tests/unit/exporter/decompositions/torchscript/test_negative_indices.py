"""Negative numbers in index tensors, on the TorchScript route."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from modelexport_exporter.decompositions.torchscript.negative_indices import from_the_start
from traced import Function, assert_exported_as_eager

X = torch.arange(60.0).reshape(3, 4, 5)
LAST, FIRST = torch.tensor([-1, 0]), torch.tensor([0, 1])


def _written(x: Tensor, n: Tensor) -> Tensor:
    x = x.clone()
    x[LAST, torch.tensor([-2, 1])] = 7.0
    return x


READS: dict[str, Function] = {
    "constants": lambda x, n: x[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])],
    "one_dim": lambda x, n: x[:, LAST],
    "inputs": lambda x, n: x[n[:, 0] % 3 - 3, n[:, 1] % 4 - 4],
    "ellipsis": lambda x, n: x[None][..., LAST, FIRST - 1],
    "written": _written,
}


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("name", READS)
def test_negative_numbers_count_from_the_end(name: str, opset: int) -> None:
    assert_exported_as_eager(READS[name], opset)


@given(
    st.lists(st.integers(-3, 2), min_size=1, max_size=4),
    st.lists(st.integers(-5, 4), min_size=1, max_size=1),
    st.sampled_from([(0, 2), (0, slice(None), 2), (0, Ellipsis, 2)]),
)
def test_the_index_reads_the_same(first: list[int], last: list[int], form: Any) -> None:  # noqa: ANN401
    numbers = {0: torch.tensor(first), 2: torch.tensor(last)}
    index = tuple(numbers.get(part, part) if isinstance(part, int) else part for part in form)
    x = X if len(form) == 3 else X[:, 0]
    changed = from_the_start(x, index)
    if changed is NotImplemented:
        assert all((tensor >= 0).all() for tensor in numbers.values())
        return
    assert torch.equal(x[changed], x[index])
    assert all((part >= 0).all() for part in changed if isinstance(part, Tensor))


@pytest.mark.parametrize(
    "index",
    [FIRST, (FIRST, 1), X > 3, (slice(None), -1), -1, None, [0, 1], (True, FIRST)],
    ids=str,
)
def test_other_indices_are_left_alone(index: object) -> None:
    assert from_the_start(X, index) is NotImplemented
