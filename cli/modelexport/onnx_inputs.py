"""The inputs of an ONNX file that exists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_cli.export_error import ExportError
from modelexport_cli.file_inputs import FileInput


def inputs_of_file(path: Path) -> tuple[FileInput, ...]:
    """Return the inputs, in the file's order. Raises ExportError if it is no ONNX file."""
    import onnx

    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as error:  # noqa: BLE001 - protobuf raises many kinds
        text = " ".join(str(error).split())[:300]
        raise ExportError(
            Reason.ARTIFACT_INVALID.value,
            f"{path} is not a readable ONNX file: {text}",
            "Correct the path.",
        ) from None
    weights = {tensor.name for tensor in graph.initializer}
    return tuple(
        FileInput(entry.name, _shape(entry)) for entry in graph.input if entry.name not in weights
    )


def _shape(entry: Any) -> tuple[int | None, ...] | None:  # noqa: ANN401 - protobuf
    kind = entry.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return tuple(axis.dim_value if axis.HasField("dim_value") else None for axis in kind.shape.dim)
