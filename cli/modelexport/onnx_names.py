"""The names of the inputs of an ONNX file."""

from __future__ import annotations

from pathlib import Path

from modelexport_cli.export_error import ExportError


def input_names(path: Path) -> tuple[str, ...]:
    """Return the names, in the file's order. Raises ExportError if it is no ONNX file."""
    import onnx

    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as error:  # noqa: BLE001 - protobuf raises many kinds
        text = " ".join(str(error).split())[:300]
        raise ExportError(
            "ArtifactInvalid", f"{path} is not a readable ONNX file: {text}", "Correct the path."
        ) from None
    weights = {tensor.name for tensor in graph.initializer}
    return tuple(entry.name for entry in graph.input if entry.name not in weights)
