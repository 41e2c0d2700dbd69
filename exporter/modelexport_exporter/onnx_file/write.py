"""Write: an ONNX model in memory becomes files, with the digest of each.

Guarantees the same bytes for the same model, nothing in them about where it was made (stack
traces, source paths), small models in one file, and large ones next to one file of external data,
both without a second copy of the weights in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import onnx_ir as ir

from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.onnx_file.embedded_data import write_with_embedded
from modelexport_exporter.onnx_file.external_data import external_tensor, write_external_data
from modelexport_exporter.onnx_file.pointed import Pointed

MODEL_NAME = "model.onnx"
EMBED_BELOW = 64 * 1024 * 1024
"""Models whose weights are smaller stay one file."""
SMALL_TENSOR = 1024
"""Initializers up to this size stay in the model's file: shapes and scalars that tools read."""

_KEPT_METADATA = ("pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy")
"""Which nn.Module a node comes from; no paths."""


def write_model(
    model: ir.Model, directory: Path, pointed: Pointed | None = None
) -> tuple[WrittenFile, ...]:
    """Write the model, and its external data if it is large; the model's file comes first.

    The model's large initializers are in the files then, and no longer in memory. `pointed`: takes
    those that are in the checkpoint.
    """
    strip_traces(model)
    large = [value for value in _initializers(model) if _nbytes(value) > SMALL_TENSOR]
    if pointed is not None:
        large = pointed.take(large, directory)
        return (*_write(model, large, directory), *pointed.files)
    return _write(model, large, directory)


def _write(model: ir.Model, large: Sequence[ir.Value], directory: Path) -> tuple[WrittenFile, ...]:
    if sum(_nbytes(value) for value in large) < EMBED_BELOW:
        own = {*map(id, large)}
        embedded = [
            value
            for value in model.graph.initializers.values()
            if id(value) in own and _is_raw(value)
        ]
        return (write_with_embedded(model, embedded, directory / MODEL_NAME),)
    data, places = write_external_data(large, directory)
    for value in large:
        value.const_value = external_tensor(value, data.name, places[str(value.name)], directory)
    return (write_with_embedded(model, (), directory / MODEL_NAME), data)


def strip_traces(model: ir.Model) -> None:
    """Remove stack traces, source paths and torch's own notes."""
    model.metadata_props.clear()
    model.doc_string = None
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for graph in graphs:
        graph.metadata_props.clear()
        graph.doc_string = None
        for value in graph.inputs:
            _strip_value(value)
        for node in graph.all_nodes():
            node.doc_string = None
            kept = {
                key: node.metadata_props[key]
                for key in _KEPT_METADATA
                if key in node.metadata_props
            }
            node.metadata_props.clear()
            node.metadata_props.update(kept)
            for value in node.outputs:
                _strip_value(value)
    for value in _initializers(model):
        _strip_value(value)


def _strip_value(value: ir.Value) -> None:
    value.metadata_props.clear()
    value.doc_string = None


def _initializers(model: ir.Model) -> Iterator[ir.Value]:
    """Yield the initializers of all graphs, those of loops and branches too."""
    for graph in model.graphs():
        yield from graph.initializers.values()


def _nbytes(value: ir.Value) -> int:
    return value.const_value.nbytes if value.const_value is not None else 0


def _is_raw(value: ir.Value) -> bool:
    """Return whether an initializer is large, and its bytes are the tensor's."""
    tensor = value.const_value
    return (
        _nbytes(value) > SMALL_TENSOR
        and tensor is not None
        and tensor.dtype is not ir.DataType.STRING
    )
