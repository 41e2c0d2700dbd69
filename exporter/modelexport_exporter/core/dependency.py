"""What an artifact was made of, besides its checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Dependency:
    """Something besides the checkpoint that went into the artifact, or into its verdict."""

    uri: str
    digest: Mapping[str, str]
    """By algorithm."""
