"""Loops over sizes in code that TorchScript does not compile: right by a `Scan`."""

from __future__ import annotations

import pytest

from seeds.case import Case, tensor
from seeds.harness import Bench, each

ROWS = (tensor("x", "batch", "seq", 6),)
DIMS = {"batch": (1, 6), "seq": (1, 20)}
CASES = tuple(
    Case("C34 D8", name, f"loops:{name}", ROWS, DIMS, routes=("Dynamo",))
    for name in ("selective_scan", "stacked_cells", "smoothed")
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
