"""Whether one more run of the model in perturbed arithmetic may explain a difference: pure."""

from __future__ import annotations

from modelexport_exporter.core.comparison import OutputComparison, ProblemKind

MAX_RUNS = 24
RUNS_TO_FIND_UNSETTLED = 3
"""If an output has elements that depend on rounding, so many runs find one of them."""
RUNS_TO_SETTLE = 9
"""So many find most of them."""
FEW = 4
"""So many elements that differ may be near an edge or a half; MAX_RUNS find one that moves in
every 8th run: by three runs a mean that is equal to a threshold moves to one side only, at 1/8."""
RUNS_TO_MEASURE_NOISE = 5
"""So many runs measure the noise of an output without such elements; more hardly raise it."""
HOPELESS = 100.0
"""An error of so many limits is not explained by one more run."""


def may_explain(output: OutputComparison, runs: int) -> bool:
    """Return whether one more run, after `runs`, may show that rounding causes the difference."""
    if not output.problem or output.problem.kind is ProblemKind.DTYPE:
        return False
    if output.errors <= FEW:
        return True
    if runs < RUNS_TO_FIND_UNSETTLED or output.unsettled:
        return runs < RUNS_TO_SETTLE
    return runs < RUNS_TO_MEASURE_NOISE and output.max_abs_error <= HOPELESS * output.limit
