"""Part of report.json: a file that was made, and that no verdict let through."""

from __future__ import annotations

from modelexport_api.base import ApiModel
from modelexport_api.status import TensorInfo
from modelexport_exporter.core.types import ConvertedModel


class UnpublishedFile(ApiModel):
    """A file that was made, and is not published: what was read back from it."""

    exporter: str
    opset: int
    ir_version: int
    size_bytes: int
    inputs: list[TensorInfo]
    outputs: list[TensorInfo]


def unpublished(made: ConvertedModel) -> UnpublishedFile:
    """Return the facts of a file that is not published."""
    return UnpublishedFile(
        exporter=made.exporter,
        opset=made.opset,
        ir_version=made.ir_version,
        size_bytes=sum(file.size_bytes for file in made.files),
        inputs=list(made.inputs),
        outputs=list(made.outputs),
    )
