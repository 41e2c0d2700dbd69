"""Modules that torch imports at the first export only."""

from __future__ import annotations

LATE_MODULES = (
    "torch._dynamo",
    "torch.export._trace",
    "torch.fx.experimental.validator",
    "sympy.tensor.tensor",
)
"""They take seconds, and forked workers can share them; the last two at the first symbolic size."""
