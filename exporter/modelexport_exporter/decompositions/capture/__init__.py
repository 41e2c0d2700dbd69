"""Calls that torch.export cannot capture, or captures with fixed sizes, and their replacements."""

from __future__ import annotations

from modelexport_exporter.decompositions.capture import (
    calls,
    convolutions,
    covariances,
    data,
    factorizations,
    fake_quantization,
    least_squares,
    open_options,
    packed,
    patches,
    pools,
    quotients_of_sizes,
    recurrent,
    resizing,
    signal_windows,
    tensors_of_sizes,
    transforms,
    triangles,
)

_MODULES = (
    calls,
    convolutions,
    covariances,
    data,
    factorizations,
    fake_quantization,
    least_squares,
    open_options,
    packed,
    patches,
    pools,
    quotients_of_sizes,
    recurrent,
    resizing,
    signal_windows,
    tensors_of_sizes,
    transforms,
    triangles,
)
CALLS = {name: entry for module in _MODULES for name, entry in module.CALLS.items()}
"""From a function of torch to its operator's name and what is called in its place."""
