"""Least squares against eager, for every driver."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_same
from modelexport_exporter.decompositions.capture.least_squares import lstsq

G = torch.Generator().manual_seed(1)
TALL, WIDE = torch.randn(2, 5, 3, generator=G), torch.randn(3, 5, generator=G)
RIGHT = torch.randn(2, 5, 2, generator=G)


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
def test_the_results_are_eagers(driver: str | None) -> None:
    for a, b in ((TALL, RIGHT), (WIDE, RIGHT[0, :3]), (TALL[0].double(), RIGHT[0].double())):
        want, got = torch.linalg.lstsq(a, b, driver=driver), lstsq(a, b, driver=driver)
        for one, other in zip(want, got, strict=True):
            assert_same(one, other, 1e-4)
        assert torch.equal(got.rank, want.rank)


def test_columns_may_be_a_vector() -> None:
    want, got = torch.linalg.lstsq(TALL, RIGHT[..., 0]), lstsq(TALL, RIGHT[..., 0])
    assert_same(want.solution, got.solution, 1e-4)


def test_larger_matrices_are_left_to_torch() -> None:
    assert lstsq(torch.ones(40, 30), torch.ones(40, 2)) is NotImplemented
