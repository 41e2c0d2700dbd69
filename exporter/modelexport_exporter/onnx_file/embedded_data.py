"""Initializers written into the model's file, streamed and hashed in one pass.

Guarantees that no more than one block of one tensor is copied: protobuf's own serialization holds
all weights three times. A message's fields may come in any order, so the graph's field ends with
the large initializers (https://protobuf.dev/programming-guides/encoding).
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx_ir as ir

from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.onnx_file.external_data import blocks

_LENGTH_DELIMITED = 2
_GRAPH = onnx.ModelProto.GRAPH_FIELD_NUMBER
_INITIALIZER = onnx.GraphProto.INITIALIZER_FIELD_NUMBER
_RAW_DATA = onnx.TensorProto.RAW_DATA_FIELD_NUMBER


def write_with_embedded(model: ir.Model, values: Sequence[ir.Value], path: Path) -> WrittenFile:
    """Write a model whose initializers `values`, of its main graph, are large.

    They lose their tensors when these are written, so that the memory is free.
    """
    tensors = [_Embedded.of(value) for value in values]
    with _without_warnings():
        proto = ir.to_proto(model)
    graph = proto.graph.SerializeToString(deterministic=True)
    proto.ClearField("graph")
    length = len(graph) + sum(len(tensor.head) + tensor.length for tensor in tensors)
    sha256, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        first = proto.SerializeToString(deterministic=True) + _header(_GRAPH, length) + graph
        for block in _parts(first, tensors):
            file.write(block)
            sha256.update(block)
            size += memoryview(block).nbytes
    return WrittenFile(name=path.name, size_bytes=size, sha256=sha256.hexdigest())


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Let onnx_ir not warn of initializers without a tensor."""
    log = logging.getLogger("onnx_ir.serde")
    log.addFilter(_nothing)
    try:
        yield
    finally:
        log.removeFilter(_nothing)


def _nothing(_record: logging.LogRecord) -> bool:
    return False


@dataclass
class _Embedded:
    """An initializer that is written after the graph's other fields."""

    tensor: ir.TensorProtocol | None
    head: bytes
    """The field of the graph up to the tensor's bytes."""
    length: int

    @staticmethod
    def of(value: ir.Value) -> _Embedded:
        """Take the tensor from an initializer."""
        tensor = value.const_value
        assert tensor is not None
        described = onnx.TensorProto(
            name=value.name, data_type=tensor.dtype.value, dims=tensor.shape.numpy()
        ).SerializeToString(deterministic=True)
        described += _header(_RAW_DATA, tensor.nbytes)
        head = _header(_INITIALIZER, len(described) + tensor.nbytes) + described
        value.const_value = None
        return _Embedded(tensor, head, tensor.nbytes)


def _parts(first: bytes, tensors: Sequence[_Embedded]) -> Iterator[bytes | memoryview]:
    yield first
    for embedded in tensors:
        yield embedded.head
        assert embedded.tensor is not None
        yield from blocks(embedded.tensor)
        embedded.tensor = None


def _header(field: int, length: int) -> bytes:
    """Return what precedes a field of so many bytes."""
    return _varint(field << 3 | _LENGTH_DELIMITED) + _varint(length)


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first; all but the last are marked."""
    groups = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])
