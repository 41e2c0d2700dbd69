"""One rule that crosses fields: CEL for the API server and Python here, from one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from modelexport_api.spec import ModelExportSpec


@dataclass(frozen=True)
class Rule:
    """One rule: `cel` is evaluated at `path` of the spec, `holds` on the whole spec.

    `cel` is None where the schema itself says the same.
    """

    path: tuple[str, ...]
    cel: str | None
    message: str
    holds: Callable[[ModelExportSpec], bool]

    @property
    def field(self) -> str:
        """Return the field as the API server prints it."""
        return ".".join(("spec", *self.path))
