"""Our own decompositions compute what the op does."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from modelexport_exporter.blame.decompose import find_decomposition

X = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(0))
CASES: dict[str, dict[str, Any]] = {
    "all": {},
    "one dim": {"dim": [1]},
    "kept dims": {"dim": [0, 2], "keepdim": True},
    "of a population": {"dim": [-1], "correction": 0},
    "another correction": {"dim": [2], "correction": 2},
}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
@pytest.mark.parametrize("op", [torch.ops.aten.var.correction, torch.ops.aten.std.correction])
def test_variance_and_deviation(op: Any, options: dict[str, Any]) -> None:  # noqa: ANN401
    decomposition = find_decomposition(op)
    assert decomposition is not None
    torch.testing.assert_close(decomposition(X, **options), op(X, **options))
