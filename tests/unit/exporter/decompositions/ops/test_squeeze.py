"""Dims that are left out, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager


@pytest.mark.parametrize("dim", [0, 1, -1, [0, 1], [1, 2], [-1, 0], []])
def test_dims_of_size_one_alone_are_left_out(dim: int | list[int]) -> None:
    for x in (torch.ones(3, 1, 2), torch.ones(1, 1, 2), torch.ones(1, 3, 1), torch.ones(0, 1, 1)):
        assert_as_eager(f"aten::squeeze.{'dim' if isinstance(dim, int) else 'dims'}", x, dim)


def test_a_number_has_no_dims_to_leave_out() -> None:
    assert_as_eager("aten::squeeze.dim", torch.tensor(2.0), 0)
