"""Mixtures of experts: right also where no token chooses an expert."""

from __future__ import annotations

import pytest

from seeds.case import Case, integers, tensor
from seeds.harness import Bench, each

DIMS = {"b": (1, 4), "n": (1, 12)}
TOKENS = [tensor("x", "b", "n", 8)]
CASES = (
    Case("R6", "experts_in_a_list", "experts:ListOfExperts", TOKENS, dims=DIMS, edges=()),
    Case("R6", "experts_in_a_parameter", "experts:StackedExperts", TOKENS, dims=DIMS, edges=()),
    Case(
        "R6",
        "experts_of_unique_choices",
        "experts:ExpertsOfUniqueChoices",
        [tensor("x", "n", 8), integers("language", "n", high=3)],
        dims={"n": (1, 30)},
        edges=(),
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
