"""Inputs that a search found: plain values, without torch."""

from __future__ import annotations

from dataclasses import dataclass

from modelexport_exporter.core.carried import Carried


@dataclass(frozen=True)
class Found:
    """Inputs that reach something."""

    dims: dict[str, int]
    arrays: dict[str, Carried]
