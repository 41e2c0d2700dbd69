"""Modules that torch imports at the first export only."""

from __future__ import annotations

LATE_MODULES = ("torch._dynamo", "torch.export._trace")
"""They take seconds, and forked workers can share them."""
