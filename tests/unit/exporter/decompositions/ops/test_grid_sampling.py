"""The nearest pixel at reflected places, against eager: at ties, far away, in small images."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decomposed import assert_as_eager

QUARTERS = st.integers(-40, 40).map(lambda quarters: quarters / 4)


@settings(max_examples=100, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    places=st.lists(st.tuples(QUARTERS, QUARTERS), min_size=1, max_size=12),
)
def test_places_at_ties_are_eagers(
    sizes: tuple[int, int], places: list[tuple[float, float]]
) -> None:
    height, width = sizes
    x = torch.arange(2.0 * height * width).reshape(1, 2, height, width)
    # In pixels: quarters, exact ties among them; the normalized places round.
    pixels = torch.tensor(places, dtype=torch.float64)
    grid = (2 * pixels + 1) / torch.tensor([width, height]) - 1
    exact = (grid.float().double() == grid).all(-1)
    if exact.any():
        grid = grid[exact].float()[None, None]
        assert_as_eager("aten::grid_sampler_2d", x, grid, 1, 2, False)


def test_random_places_are_eagers() -> None:
    x = torch.arange(2.0 * 7 * 5).reshape(1, 2, 7, 5)
    grid = torch.randn(1, 30, 30, 2, generator=torch.Generator().manual_seed(3)) * 2
    assert_as_eager("aten::grid_sampler_2d", x, grid, 1, 2, False)
