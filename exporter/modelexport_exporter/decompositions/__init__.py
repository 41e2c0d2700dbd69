"""A library of decompositions: operators that torch.onnx cannot translate, or translates wrongly.

Each family of operators is a file; importing it registers its functions.
"""

from __future__ import annotations

from modelexport_exporter.decompositions.capture import (
    recurrent,  # noqa: F401 (adds to CALLS)
)
from modelexport_exporter.decompositions.ops import (
    activations,
    antialiasing,
    bessel_functions,
    clamping,
    cumulative,
    divisions,
    double_precision,
    element_types,
    error_functions,
    exponentials,
    factorizations,
    fft,
    gamma_functions,
    grouped_matmul,
    linalg,
    losses,
    matmul_add,
    max_pooling,
    nearest_resizing,
    order_statistics,
    orthogonal_polynomials,
    pooling,
    powers,
    reductions,
    run_lengths,
    scatter_gather,
    searching,
    signed_zero,
    squeeze,
)
from modelexport_exporter.decompositions.registry import DECOMPOSITIONS
from modelexport_exporter.decompositions.replaced_calls import capturing_calls, rewriting_calls
from modelexport_exporter.decompositions.rewrite import rewrite_program

FAMILIES = (
    activations,
    antialiasing,
    bessel_functions,
    clamping,
    cumulative,
    divisions,
    double_precision,
    element_types,
    error_functions,
    exponentials,
    factorizations,
    fft,
    gamma_functions,
    grouped_matmul,
    linalg,
    losses,
    matmul_add,
    max_pooling,
    nearest_resizing,
    order_statistics,
    orthogonal_polynomials,
    pooling,
    powers,
    reductions,
    run_lengths,
    scatter_gather,
    searching,
    signed_zero,
    squeeze,
)

__all__ = ["FAMILIES", "capturing_calls", "provided", "rewrite_program", "rewriting_calls"]


def provided() -> frozenset[str]:
    """Return the operators that the library decomposes, such as aten::erfinv."""
    return frozenset(entry.operator for entry in DECOMPOSITIONS.values())
