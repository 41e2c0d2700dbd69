"""Test values mined from the ONNX file: scalar constants, and changed rows of embedding tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import torch
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import numpy_helper

from modelexport_exporter.call.tensors import to_array
from modelexport_exporter.sampling.inject import InjectedValues
from modelexport_exporter.verification.samples.inverted_constants import inverted_constants

Array = NDArray[Any]

MAX_CONSTANTS = 128
LARGEST_VECTOR = 256
"""Elements of a constant that values are compared with: the edges of buckets, limits of columns."""
COMPARING = frozenset(
    {
        "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Clip", "Where",
        "Mod",
    }
)  # fmt: skip
LARGEST_CONSTANT = 1e6
"""Larger ones stand for infinity, in masks."""
ROUNDING = frozenset({"Round", "Floor", "Ceil", "Cast"})
"""Operators that decide at halves, or at integers, of a value that a constant may have scaled."""
HALVES = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.5)
MAX_STEPS_BEFORE_ROUNDING = 4
"""Number of nodes before a rounding that are searched for its scale: quantizers clamp and shift in
between."""
MAX_ROWS = 4096
LARGEST_TABLE_BYTES = 256 << 20
ROWS_AT_ONCE = 1024
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
_INTEGERS = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)


def find_injected_values(
    path: Path, state: Mapping[str, torch.Tensor], bases: Iterable[float] = ()
) -> InjectedValues:
    """Return the values to inject for a file. `state`: the model's parameters and buffers by name.

    `bases`: ends of declared ranges. Empty if the file is not ONNX: the session reports that.
    """
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except DecodeError:
        return InjectedValues()
    scalars = _read_scalars(graph)
    compared = _compared_with(graph)
    floats = {number for number in compared if isinstance(number, float)}
    constants = set(filter(_is_injectable, (*scalars.values(), *floats)))
    scales = _scales_before_rounding(graph, scalars)
    halves = {half / scale for scale in scales for half in HALVES}
    rows = {row for table in _tables(graph) for row in _changed_rows(table, state, path.parent)}
    return InjectedValues(
        tuple(sorted(constants)[:MAX_CONSTANTS]),
        tuple(sorted(halves - constants)[:MAX_CONSTANTS]),
        tuple(sorted(rows)[:MAX_ROWS]),
        limits=tuple(sorted(filter(_is_injectable, floats))[:MAX_CONSTANTS]),
        compared=tuple(number for number in compared if isinstance(number, int))[:MAX_CONSTANTS],
        reaching=inverted_constants(graph, bases),
    )


def _compared_with(graph: onnx.GraphProto) -> list[float | int]:
    """Return the elements of small constants that values are compared with, each once."""
    found: dict[float | int, None] = {}
    for own in _graphs(graph):
        named = _constants(own) | _constants(graph)
        for node in own.node:
            for name in node.input if node.op_type in COMPARING else ():
                if name in named:
                    numbers = numpy_helper.to_array(named[name]).reshape(-1).tolist()
                    found |= dict.fromkeys(number for number in numbers if not _is_bool(number))
    return [number for number in found if _is_injectable(number)]


def _is_bool(number: object) -> bool:
    return isinstance(number, bool)


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield the graph, and those of its If, Loop and Scan nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _constants(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
    """Return the small constants of a graph, by the name of their value."""
    named = [(tensor.name, tensor) for tensor in graph.initializer]
    for node in graph.node:
        tensors = (attribute.t for attribute in node.attribute if attribute.HasField("t"))
        named += [(node.output[0], tensor) for tensor in tensors]
    return {
        name: tensor
        for name, tensor in named
        if tensor.data_type in (*_FLOATS, *_INTEGERS)
        and math.prod(tensor.dims) <= LARGEST_VECTOR
        and not tensor.external_data
    }


def _read_scalars(graph: onnx.GraphProto) -> dict[str, float]:
    """Return the constants of one element, by the name of their value."""
    named = _constants(graph)
    return {name: _read_scalar(tensor) for name, tensor in named.items() if _is_scalar(tensor)}


def _is_scalar(tensor: onnx.TensorProto) -> bool:
    return math.prod(tensor.dims) == 1 and tensor.data_type in _FLOATS


def _scales_before_rounding(graph: onnx.GraphProto, scalars: Mapping[str, float]) -> set[float]:
    """Return the factors that values are multiplied by before they are rounded, 1 included."""
    producers = {output: node for node in graph.node for output in node.output}
    scales = set()
    for node in graph.node:
        if node.op_type in ROUNDING:
            scales |= set(_scales(node, producers, scalars))
    return scales


def _scales(
    rounding: onnx.NodeProto, producers: Mapping[str, onnx.NodeProto], scalars: Mapping[str, float]
) -> Iterator[float]:
    """Yield the factors between a rounding and the values up to four nodes before it."""
    scale, node = 1.0, rounding
    for _ in range(MAX_STEPS_BEFORE_ROUNDING):
        yield scale
        followed = [name for name in node.input if name not in scalars]
        if not followed or followed[0] not in producers:
            return
        node = producers[followed[0]]
        by = next((scalars[name] for name in node.input if name in scalars), 1.0)
        if node.op_type in {"Mul", "Div"} and _is_injectable(by):
            scale *= by if node.op_type == "Mul" else 1 / by


def _read_scalar(tensor: onnx.TensorProto) -> float:
    return float(numpy_helper.to_array(tensor).reshape(-1)[0])


def _is_injectable(value: float) -> bool:
    return math.isfinite(value) and 0 < abs(value) <= LARGEST_CONSTANT


def _tables(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield the initializers of floats that Gather reads row by row."""
    looked_up = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    for tensor in graph.initializer:
        if tensor.name in looked_up and tensor.data_type in _FLOATS and len(tensor.dims) > 0:
            yield tensor


def _changed_rows(
    tensor: onnx.TensorProto, state: Mapping[str, torch.Tensor], directory: Path
) -> list[int]:
    originals = [
        own
        for name, own in state.items()
        if tuple(own.shape) == tuple(tensor.dims)
        and own.nbytes <= LARGEST_TABLE_BYTES
        and (name == tensor.name or tensor.name not in state)
    ]
    if not originals:
        # What the optimizer folded into the table cannot be compared: each row is looked up.
        return list(range(min(tensor.dims[0], MAX_ROWS)))
    # Mapped, not read: a vocabulary's table is large.
    table = ir.serde.deserialize_tensor(tensor, directory).numpy()
    differing = [_differing_rows(table, to_array(own)) for own in originals]
    # A table whose name is not in the state_dict corresponds to the most similar tensor there.
    return min((rows for rows in differing if rows is not None), key=len, default=[])


def _differing_rows(table: Array, original: Array) -> list[int] | None:
    if table.dtype != original.dtype:
        return None
    # As bits: NaN is equal to itself, and 0.0 is not -0.0.
    one, other = (
        np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8)
        for array in (table, original)
    )
    return [
        begin + int(row)
        for begin in range(0, len(one), ROWS_AT_ONCE)
        for row in np.flatnonzero(
            (one[begin : begin + ROWS_AT_ONCE] != other[begin : begin + ROWS_AT_ONCE]).any(axis=1)
        )
    ]
