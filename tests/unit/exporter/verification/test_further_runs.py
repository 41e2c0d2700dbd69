"""How many further runs of the model a difference is worth."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_exporter.core.comparison import OutputComparison, Problem, ProblemKind
from modelexport_exporter.verification.further_runs import (
    FEW,
    HOPELESS,
    MAX_RUNS,
    RUNS_TO_FIND_UNSETTLED,
    RUNS_TO_MEASURE_NOISE,
    RUNS_TO_SETTLE,
    may_explain,
)

MANY = 1000


def runs_for(
    *,
    error: float = 2.0,
    elements: int = MANY,
    unsettled: int = 0,
    kind: ProblemKind | None = ProblemKind.VALUES,
) -> int:
    """Return after how many runs no other one is made, for an error of so many limits."""
    problem = None if kind is None else Problem(kind, "differs")
    output = OutputComparison(
        "y", error, error, limit=1.0, problem=problem, errors=elements, unsettled=unsettled
    )
    return next((run for run in range(MAX_RUNS) if not may_explain(output, run)), MAX_RUNS)


@pytest.mark.parametrize(
    ("difference", "runs"),
    [
        pytest.param({"kind": None}, 0, id="none"),
        pytest.param({"kind": ProblemKind.DTYPE}, 0, id="no run changes a dtype"),
        pytest.param({}, RUNS_TO_MEASURE_NOISE, id="of the noise's size"),
        pytest.param({"error": HOPELESS + 1}, RUNS_TO_FIND_UNSETTLED, id="gross"),
        pytest.param({"error": HOPELESS + 1, "unsettled": 3}, RUNS_TO_SETTLE, id="beside edges"),
        pytest.param({"error": HOPELESS + 1, "elements": FEW}, MAX_RUNS, id="of few elements"),
    ],
)
def test_a_difference_is_worth_so_many_runs(difference: dict[str, Any], runs: int) -> None:
    assert runs_for(**difference) == runs
