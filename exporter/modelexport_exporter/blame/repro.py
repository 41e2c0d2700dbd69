"""A repro: the wrong nodes as a model of their own, with inputs and eager's outputs.

Guarantees that the script needs only numpy, onnxruntime and its own directory; where that is
impossible, there is a reason instead.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data

from modelexport_exporter.blame.fingerprint import Array
from modelexport_exporter.blame.record_onnx import reads
from modelexport_exporter.core.blame import REPRO_NAMES, ReproFile

MAX_BYTES = 32 << 20
_KNOWN = frozenset({"", "ai.onnx", "com.microsoft", "ai.onnx.ml"})

_SCRIPT = '''\
"""{title}"""
import numpy as np
import onnxruntime

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
inputs, expected = dict(np.load("inputs.npz")), np.load("expected.npz")
for name, got in zip(expected.files, session.run(expected.files, inputs)):
    if got.shape != expected[name].shape:
        print(name, "has the shape", got.shape, "expected", expected[name].shape)
        continue
    want, got = expected[name].astype(np.float64), got.astype(np.float64)
    error = np.nanmax(np.abs(want - got), initial=0) / (np.nanmax(np.abs(want), initial=0) or 1)
    print(f"{{name}}: relative error {{error:.3g}}")
'''


class NoRepro(Exception):  # noqa: N818 - a result, no error
    """These nodes cannot be run on their own."""


@dataclass(frozen=True)
class Cut:
    """The nodes and values of the repro."""

    nodes: tuple[int, ...]
    """Indices into the graph's nodes, in order."""
    inputs: Mapping[str, Array]
    """Values that these nodes read and do not compute, as the file computes them."""
    expected: Mapping[str, Array]
    """Eager's values of what they compute, under the file's names."""


def needed(
    model: onnx.ModelProto, nodes: Collection[int], known: Collection[str]
) -> tuple[list[int], list[str]]:
    """Return the nodes to include and the values to feed, so that these nodes can run.

    `known`: values that may be fed. Nodes that depend only on weights and constants are included.
    """
    graph = model.graph
    producers = {name: at for at, node in enumerate(graph.node) for name in node.output if name}
    weights = {tensor.name for tensor in graph.initializer}
    taken, fed, waiting = set(nodes), dict[str, None](), sorted(nodes, reverse=True)
    while waiting:
        for name in reads(graph.node[waiting.pop()]):
            at = producers.get(name)
            if name in weights or at in taken:
                continue
            if name in known or at is None:
                fed[name] = None
            else:
                taken.add(at)
                waiting.append(at)
    return sorted(taken), list(fed)


def build(model: onnx.ModelProto, directory: Path, cut: Cut, title: str) -> tuple[ReproFile, ...]:
    """Return the files of the repro. Raises NoRepro."""
    small = _model(model, directory, cut)
    content = small.SerializeToString()
    inputs, expected = _npz(cut.inputs, "in"), _npz(cut.expected, "out")
    size = len(content) + len(inputs) + len(expected)
    if size > MAX_BYTES:
        raise NoRepro(_too_large(size))
    script = _SCRIPT.format(title=title.replace("\\", "/").replace('"', "'"))
    contents = (content, inputs, expected, script.encode())
    return tuple(ReproFile(name, data) for name, data in zip(REPRO_NAMES, contents, strict=True))


def _too_large(size: int) -> str:
    return f"it would take {size / 1e6:.0f} MB, of {MAX_BYTES / 1e6:.0f} at most"


def _model(model: onnx.ModelProto, directory: Path, cut: Cut) -> onnx.ModelProto:
    nodes = [model.graph.node[at] for at in cut.nodes]
    foreign = sorted(_foreign_operators(model, nodes))
    if foreign:
        raise NoRepro(f"it needs operators that onnxruntime alone does not have: {foreign[0]}")
    small = onnx.ModelProto()
    small.ir_version = model.ir_version
    small.opset_import.extend(model.opset_import)
    small.functions.extend(model.functions)
    graph = small.graph
    graph.name = "repro"
    graph.initializer.extend(_weights(model, directory, nodes))
    for name, array in cut.inputs.items():
        wide = _stored(array)
        kind = onnx.helper.np_dtype_to_tensor_dtype(wide.dtype)
        plain = plain_name(name, "in")
        graph.input.append(onnx.helper.make_tensor_value_info(plain, kind, list(array.shape)))
        kept = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        graph.node.append(onnx.helper.make_node("Cast", [plain], [name], to=kept))
    graph.node.extend(nodes)
    for name, array in cut.expected.items():
        kind = onnx.helper.np_dtype_to_tensor_dtype(_stored(array).dtype)
        plain = plain_name(name, "out")
        graph.node.append(onnx.helper.make_node("Cast", [name], [plain], to=kind))
        graph.output.append(onnx.ValueInfoProto(name=plain))
    return small


def plain_name(name: str, end: str) -> str:
    """Return a name for an npz file, where a slash would be a directory."""
    return f"{re.sub(r'[^0-9A-Za-z_.]+', '_', name).strip('_')}__{end}"


def _weights(
    model: onnx.ModelProto, directory: Path, nodes: Iterable[onnx.NodeProto]
) -> list[onnx.TensorProto]:
    wanted = {name for node in nodes for name in reads(node)}
    tensors = [tensor for tensor in model.graph.initializer if tensor.name in wanted]
    size = sum(int(np.prod(tensor.dims, dtype=np.int64)) for tensor in tensors)
    if size > MAX_BYTES:
        raise NoRepro(_too_large(size))
    found = []
    for tensor in tensors:
        copy = onnx.TensorProto()
        copy.CopyFrom(tensor)
        if uses_external_data(copy):
            load_external_data_for_tensor(copy, str(directory))
            copy.data_location = onnx.TensorProto.DEFAULT
            del copy.external_data[:]
        found.append(copy)
    return found


def _foreign_operators(model: onnx.ModelProto, nodes: Iterable[onnx.NodeProto]) -> set[str]:
    own = {(function.domain, function.name) for function in model.functions}
    found: set[str] = set()
    for node in nodes:
        if node.domain not in _KNOWN and (node.domain, node.op_type) not in own:
            found.add(f"{node.domain}::{node.op_type}")
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                found |= _foreign_operators(model, graph.node)
    return found


def _stored(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _npz(arrays: Mapping[str, Array], end: str) -> bytes:
    file = io.BytesIO()
    plain: dict[str, Any] = {plain_name(name, end): _stored(a) for name, a in arrays.items()}
    np.savez(file, **plain)
    return file.getvalue()
