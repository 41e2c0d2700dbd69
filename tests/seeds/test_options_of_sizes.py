"""Options made of sizes: each file must be right at sizes that the capture did not see."""

from __future__ import annotations

import pytest

from seeds.case import Case, tensor
from seeds.harness import Bench, each

SIDES = {"h": (3, 30), "w": (3, 30)}
CASES = (
    Case(
        "R4",
        "pyramid_of_windows",
        "options_of_sizes:PyramidOfWindows",
        [tensor("x", "b", 3, "h", "w")],
        dims={"b": (1, 4), **SIDES},
    ),
    Case(
        "R4",
        "experts_of_capacity",
        "options_of_sizes:ExpertsOfCapacity",
        [tensor("x", "n", 6)],
        dims={"n": (1, 40)},
        edges=(),
    ),
    Case(
        "R4",
        "spatial_transformer",
        "options_of_sizes:SpatialTransformer",
        [tensor("x", "b", 1, "h", "w")],
        dims={"b": (1, 4), **SIDES},
        edges=(),
    ),
    Case(
        "R4",
        "spectrum_of_the_whole",
        "options_of_sizes:SpectrumOfTheWhole",
        [tensor("x", "b", "n")],
        dims={"b": (1, 4), "n": (2, 100)},
        edges=(),
    ),
    Case(
        "R4",
        "parts_by_size",
        "options_of_sizes:PartsBySize",
        [tensor("x", "b", "n")],
        dims={"b": (1, 4), "n": (4, 60)},
    ),
    Case(
        "R4",
        "pairs_of_rows",
        "options_of_sizes:PairsOfRows",
        [tensor("x", "n", 4)],
        dims={"n": (2, 12)},
        edges=(),
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
