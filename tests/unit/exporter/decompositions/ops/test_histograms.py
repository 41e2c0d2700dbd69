"""Histograms, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

X = torch.arange(40.0).reshape(8, 5).sin() * 3
EDGES = torch.tensor([-2.5, -1.0, 0.5, 2.0])
ON_EDGES = torch.cat([EDGES, EDGES.nextafter(X[0, :4]), torch.tensor([float("nan"), 9.0])])


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("x", [X, ON_EDGES], ids=["any", "on edges"])
def test_values_are_counted_between_edges(x: torch.Tensor, density: bool) -> None:
    assert_as_eager("aten::histogram.bins_tensor", x, EDGES, density=density)
    weight = x.nan_to_num().abs() + 1
    assert_as_eager("aten::histogram.bins_tensor", x, EDGES, weight=weight, density=density)


@pytest.mark.parametrize("bins", [1, 2, 7])
@pytest.mark.parametrize("limits", [None, [-1.5, 2.25]])
def test_edges_are_made_of_the_values_or_limits(bins: int, limits: list[float] | None) -> None:
    assert_as_eager("aten::histogram.bin_ct", X, bins, range=limits)
    assert_as_eager("aten::histogram.bin_ct", X.double(), bins, range=limits, density=True)


def test_a_range_of_one_value_is_widened() -> None:
    assert_as_eager("aten::histogram.bin_ct", torch.tensor([0.7, 0.7]), 3)


@pytest.mark.parametrize("density", [False, True])
def test_points_are_counted_in_all_of_their_dims(density: bool) -> None:
    points, weight = X[:, :2].contiguous(), X[:, 2].abs()
    assert_as_eager("aten::_histogramdd_bin_edges", points, [2, 3])
    for bins, name in (([2, 3], "bin_cts"), ([EDGES, EDGES[1:]], "bin_tensors")):
        operator = f"aten::_histogramdd_from_{name}"
        assert_as_eager(operator, points, bins, weight=weight, density=density)
