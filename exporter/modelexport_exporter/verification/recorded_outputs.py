"""Golden outputs: eager PyTorch must return what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import Tolerance
from modelexport_exporter.core.comparison import OutputComparison, Problem, ProblemKind
from modelexport_exporter.verification.numerics.arithmetic import Arithmetic
from modelexport_exporter.verification.numerics.compare import compare_output
from modelexport_exporter.verification.numerics.tolerance import choose_tolerance

Array = NDArray[Any]


def compare_recorded(
    outputs: Sequence[OutputComparison],
    expected: Sequence[Array],
    recorded: Mapping[str, Array],
    computed_in: Sequence[Arithmetic],
    declared: Tolerance | None,
) -> list[OutputComparison]:
    """Return the outputs, with a problem where eager does not return the recorded output.

    `expected`: eager's outputs. `declared`: the tolerance of the spec.
    """
    compared = []
    for output, eager, arithmetic in zip(outputs, expected, computed_in, strict=True):
        golden = recorded.get(output.output)
        found = None
        if golden is not None and not output.problem:
            dtypes = (arithmetic.dtype,)
            tolerance = choose_tolerance(declared, eager.dtype.name, dtypes, calibrated=False)
            found = compare_output(output.output, golden, eager, tolerance).problem
        if found:
            text = f"eager PyTorch does not return the golden output: {found.text}"
            compared.append(replace(output, problem=Problem(ProblemKind.GOLDEN, text)))
        else:
            compared.append(output)
    return compared
