"""Networks of the sciences: each must be published, and right."""

from __future__ import annotations

import pytest

from seeds.case import Case, tensor
from seeds.harness import Bench, each

SIZES = {"b": (1, 3), "h": (4, 14), "w": (4, 14)}
CASES = (
    Case(
        "R4",
        "ball_query",
        "sciences:BallQuery",
        (tensor("points", "b", "n", 3),),
        {"b": (1, 3), "n": (6, 30)},
        edges=(),
    ),
    Case("R4", "scanner", "sciences:Scanner", (tensor("k", "b", "h", "w", 2),), SIZES, edges=()),
    Case(
        "R4",
        "gaussian_process",
        "sciences:GaussianProcess",
        (tensor("x", "n", 2), tensor("y", "n"), tensor("at", "m", 2)),
        {"n": (1, 40), "m": (1, 20)},
        edges=(),
    ),
    Case(
        "R4 R5",
        "turned",
        "sciences:Turned",
        (tensor("pictures", "b", 1, "h", "w"), tensor("angles", "n", low=-3, high=3)),
        SIZES | {"n": (1, 7)},
        edges=(),
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
