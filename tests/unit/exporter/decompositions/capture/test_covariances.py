"""Covariances and correlations against torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from modelexport_exporter.decompositions.capture.covariances import corrcoef, cov

COUNTS = torch.tensor([1, 2, 5, 1, 3])
SHARES = torch.tensor([0.5, 0.1, 0.9, 0.3, 0.7])
ROWS = torch.arange(15.0).reshape(3, 5).sin()
VARIABLES = {
    "several": ROWS,
    "one": ROWS[:1],
    "a vector": ROWS[0],
    "integers": (ROWS * 9).long(),
    "double": ROWS.double(),
}


@pytest.mark.parametrize("x", VARIABLES.values(), ids=VARIABLES)
@pytest.mark.parametrize("correction", [0, 1, 3])
@pytest.mark.parametrize(
    "weights",
    [
        {},
        {"fweights": COUNTS},
        {"aweights": SHARES},
        {"fweights": COUNTS, "aweights": SHARES},
    ],
    ids=",".join,
)
def test_covariances(x: torch.Tensor, correction: int, weights: dict[str, Any]) -> None:
    got = cov(x, correction=correction, **weights)
    assert_close(got, torch.cov(x, correction=correction, **weights))


@pytest.mark.parametrize("x", VARIABLES.values(), ids=VARIABLES)
def test_correlations(x: torch.Tensor) -> None:
    assert_close(corrcoef(x), torch.corrcoef(x))


@pytest.mark.filterwarnings("ignore:cov")
def test_without_degrees_of_freedom() -> None:
    x = ROWS[:, :1]
    assert_close(cov(x, correction=3), torch.cov(x, correction=3), equal_nan=True)
