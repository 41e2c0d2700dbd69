"""Operators on numbers, element by element."""

from __future__ import annotations

import pytest

from seeds.case import Case, tensor
from seeds.harness import Bench, each

PAIR = (tensor("x", "n", 4), tensor("y", "n", 4))
ROWS = {"n": (1, 40)}

CASES = (
    Case("A1", "add", "pointwise:Add", PAIR, ROWS),
    Case("A1", "add_again", "pointwise:Add", PAIR, ROWS),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
