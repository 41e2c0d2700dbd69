"""All decompositions of the library, by family and by operator."""

from __future__ import annotations

from modelexport_exporter.decompositions.ops import (
    activations,
    addmm,
    antialiasing,
    attention,
    bessel_functions,
    bits,
    clamping,
    combinations,
    cumulative,
    divisions,
    double_norms,
    double_precision,
    double_windows,
    embedding_bags,
    error_functions,
    exponentials,
    factorizations,
    fake_quantization,
    fft,
    gamma_functions,
    grid_sampling,
    grouped_matmul,
    half_scalars,
    histograms,
    integers_and_booleans,
    linalg,
    losses,
    nearest_resizing,
    order_statistics,
    orthogonal_polynomials,
    pointwise,
    pooling,
    powers,
    reductions,
    run_lengths,
    scaled_resizing,
    scatter_gather,
    searching,
    squeeze,
    windows,
)

FAMILIES = (
    activations.FAMILY,
    antialiasing.FAMILY,
    attention.FAMILY,
    bessel_functions.FAMILY,
    bits.FAMILY,
    clamping.FAMILY,
    combinations.FAMILY,
    cumulative.FAMILY,
    divisions.FAMILY,
    double_norms.FAMILY,
    double_precision.FAMILY,
    double_windows.FAMILY,
    embedding_bags.FAMILY,
    error_functions.FAMILY,
    exponentials.FAMILY,
    fft.FAMILY,
    gamma_functions.FAMILY,
    grid_sampling.FAMILY,
    half_scalars.FAMILY,
    histograms.FAMILY,
    grouped_matmul.FAMILY,
    integers_and_booleans.FAMILY,
    linalg.FAMILY,
    losses.FAMILY,
    factorizations.FAMILY,
    fake_quantization.FAMILY,
    addmm.FAMILY,
    nearest_resizing.FAMILY,
    order_statistics.FAMILY,
    orthogonal_polynomials.FAMILY,
    pointwise.FAMILY,
    pooling.FAMILY,
    powers.FAMILY,
    reductions.FAMILY,
    run_lengths.FAMILY,
    scaled_resizing.FAMILY,
    scatter_gather.FAMILY,
    searching.FAMILY,
    squeeze.FAMILY,
    windows.FAMILY,
)
DECOMPOSITIONS = {
    name: entry for family in FAMILIES for name, entry in family.decompositions.items()
}
COMPOSITES = frozenset(name for family in FAMILIES for name in family.composites)
"""Operators that consist of operators above: torch's own definition of them is applied first."""


def provided() -> frozenset[str]:
    """Return the operators that the library decomposes, such as aten::erfinv."""
    return frozenset(entry.operator for entry in DECOMPOSITIONS.values())
