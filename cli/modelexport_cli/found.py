"""What `export`, `init` and `submit` know once the inputs of a checkpoint are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modelexport_api.resource import ModelExport, parse
from modelexport_exporter.core.inferred import Inferred

if TYPE_CHECKING:
    from modelexport_exporter.source.fetch import Kept


class Found:
    """A complete manifest."""

    def __init__(
        self, document: dict[str, Any], inferred: tuple[Inferred, ...], kept: Kept
    ) -> None:
        self.document = document
        self.inferred = inferred
        self.kept = kept
        self.resource: ModelExport = parse(document)
