"""Writes an ONNX file with other declared shapes; weights, nodes and names stay as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import onnx

from modelexport_exporter.core.types import WrittenFile

Declared = tuple[int | str, ...]


def write_with_shapes(
    path: Path,
    target: Path,
    shapes: Mapping[str, Declared | None],
    *,
    forget_inner: bool = False,
) -> WrittenFile:
    """Write the file with other shapes of outputs, in the same directory; None: without one.

    `forget_inner`: also without shapes of values between inputs and outputs, which a runtime
    infers.
    """
    model = onnx.load(path, load_external_data=False)
    if forget_inner:
        for value in _inner(model):
            value.type.tensor_type.ClearField("shape")
    for value in model.graph.output:
        if value.name in shapes and value.type.HasField("tensor_type"):
            _declare(value, shapes[value.name])
    content = model.SerializeToString(deterministic=True)
    target.write_bytes(content)
    return WrittenFile(path.name, len(content), hashlib.sha256(content).hexdigest())


def _declare(value: onnx.ValueInfoProto, shape: Declared | None) -> None:
    tensor = value.type.tensor_type
    tensor.ClearField("shape")
    if shape is None:
        return
    tensor.shape.SetInParent()
    for size in shape:
        dim = tensor.shape.dim.add()
        if isinstance(size, int):
            dim.dim_value = size
        elif size != "?":
            dim.dim_param = size


def _inner(model: onnx.ModelProto) -> Iterator[onnx.ValueInfoProto]:
    """Yield the tensors that a file describes in passing, those of branches and loops too."""
    yield from _tensors(model.graph.value_info)
    yield from _of_branches(model.graph.node)
    for function in model.functions:
        yield from _tensors(function.value_info)
        yield from _of_branches(function.node)


def _of_branches(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.ValueInfoProto]:
    for node in nodes:
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _tensors((*graph.value_info, *graph.output))
                yield from _of_branches(graph.node)


def _tensors(values: Iterable[onnx.ValueInfoProto]) -> Iterator[onnx.ValueInfoProto]:
    return (value for value in values if value.type.HasField("tensor_type"))
