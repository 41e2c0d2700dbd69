"""Reads a file that torch's TorchScript exporter wrote, as far as its types say something."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_ir as ir

from modelexport_exporter.onnx_file.nested_graphs import graphs_of


def read_written(path: Path) -> ir.Model:
    """Return the file's model; its external data stay in their files."""
    proto = onnx.load(path, load_external_data=False)
    for graph in graphs_of(proto.graph):
        _forget_untyped_sequences(graph)
    model = ir.from_proto(proto)
    ir.external_data.set_base_dir(model.graph, path.parent)
    return model


def _forget_untyped_sequences(graph: onnx.GraphProto) -> None:
    """Remove types of sequences that do not say of what: the exporter does not know it of lists."""
    for info in (*graph.input, *graph.output, *graph.value_info):
        kind = info.type
        if kind.HasField("sequence_type") and not kind.sequence_type.elem_type.WhichOneof("value"):
            info.ClearField("type")
