"""Outputs of which nothing was compared in any sample: pure."""

from __future__ import annotations

from collections.abc import Sequence

from modelexport_exporter.core.comparison import SampleComparison


def empty_outputs(results: Sequence[SampleComparison]) -> list[str]:
    """Return the outputs that never had elements."""
    compared: dict[str, bool] = {}
    for result in results:
        for output in result.outputs:
            compared[output.output] = compared.get(output.output, False) or output.has_elements
    return [name for name, has_elements in compared.items() if not has_elements]


def outputs_without_numbers(results: Sequence[SampleComparison]) -> list[str]:
    """Return the outputs that had elements, and NaN only."""
    only: dict[str, bool] = {}
    for result in results:
        for output in result.outputs:
            if output.has_elements:
                only[output.output] = only.get(output.output, True) and output.all_nan
    return [name for name, all_nan in only.items() if all_nan]
