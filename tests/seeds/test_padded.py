"""Networks that pad to multiples: each must be published, as one graph, and right."""

from __future__ import annotations

import pytest

from seeds.case import Case, integers, tensor
from seeds.harness import Bench, each

PICTURES = {"b": (1, 3), "h": (5, 21), "w": (5, 21)}
IMAGE = (tensor("x", "b", 3, "h", "w"),)
CASES = (
    Case("R4", "padded_hierarchy", "padded:Hierarchy", IMAGE, PICTURES, edges=()),
    Case("R4", "padded_restored", "padded:Restored", IMAGE, PICTURES, edges=()),
    Case(
        "R4", "padded_folded", "padded:Folded", IMAGE, {"b": (1, 3), "h": (8, 25), "w": (8, 25)},
        edges=(),
    ),
    Case(
        "R4", "padded_returns", "padded:Returns",
        (tensor("states", "n", 6), integers("actions", "n", high=3)), {"n": (1, 9)}, edges=(),
    ),
    Case("D8", "padded_warns", "padded:Warns", IMAGE, PICTURES, edges=()),
)  # fmt: skip


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
