"""Products of rows in groups against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

ROWS, MATRICES = torch.randn(9, 8), torch.randn(3, 8, 4)


@pytest.mark.parametrize("ends", [[3, 5, 9], [0, 9, 9], [9, 9, 9]])
def test_groups_are_multiplied_as_by_eager(ends: list[int]) -> None:
    offs = torch.tensor(ends, dtype=torch.int32)
    assert_as_eager("aten::_grouped_mm", ROWS, MATRICES, offs)


@pytest.mark.parametrize("ends", [[3, 5, 9], [0, 9, 9], [2, 2, 7]])
def test_the_library_s_experts_are_multiplied_as_by_eager(ends: list[int]) -> None:
    import transformers.integrations.moe  # noqa: F401 (defines the operator)

    offs = torch.tensor(ends)
    assert_as_eager("transformers::grouped_mm_fallback", ROWS, MATRICES, offs)
