"""The lookup tables of an ONNX file: constants of which an index picks rows. Pure.

The exporter reads a table with Gather or GatherND, or multiplies it by one-hot rows; the optimizer
moves arithmetic before that, or folds it into the constant. All constants whose rows are still the
rows of what is read are tables. (A constant that whole samples multiply or add is none: any sample
shows its damage.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from numpy.typing import NDArray

from modelexport_exporter.onnx_file.nested_graphs import graphs_of

Array = NDArray[Any]

_LOOKING_UP = frozenset({"Gather", "GatherND", "GatherElements"})
_BY_ELEMENT = frozenset(
    {"Add", "Sub", "Mul", "Div", "Pow", "Where", "Min", "Max", "And", "Or", "Xor", "Mod"}
)
"""Operators any input of which may be the table."""
_OTHER_ROWS = frozenset({"Slice", "Split", "Pad", "Tile", "Range", "Shape", "Size", *_LOOKING_UP})
"""Operators whose result has other rows than their first input."""
_MOVING = frozenset({"Cast", "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"})
MOST_STEPS = 16
"""Nodes between a constant and what reads its rows."""


@dataclass(frozen=True)
class FileValues:
    """What makes the values of a file, those of its If, Loop and Scan nodes included."""

    inputs: Mapping[str, int]
    """The ranks of the graph's inputs, by name."""
    producers: Mapping[str, onnx.NodeProto]
    tensors: Mapping[str, onnx.TensorProto]
    """Initializers and constants, by the name of their value."""
    directory: Path
    """Where external data is found."""

    @staticmethod
    def of(graph: onnx.GraphProto, directory: Path) -> FileValues:
        """Return those of a file's graph."""
        graphs = list(graphs_of(graph))
        nodes = [node for own in graphs for node in own.node]
        tensors = {tensor.name: tensor for own in graphs for tensor in own.initializer}
        for node in nodes:
            for attribute in node.attribute if node.op_type == "Constant" else ():
                if attribute.HasField("t"):
                    tensors[node.output[0]] = attribute.t
        ranks = {entry.name: len(entry.type.tensor_type.shape.dim) for entry in graph.input}
        producers = {output: node for node in nodes for output in node.output if output}
        fed = {name: rank for name, rank in ranks.items() if name not in tensors}
        return FileValues(fed, producers, tensors, directory)

    def array(self, name: str) -> Array | None:
        """Return a constant, mapped rather than read where it is external; None for others."""
        tensor = self.tensors.get(name)
        if tensor is None or tensor.data_type == onnx.TensorProto.STRING:
            return None
        return np.asarray(ir.serde.deserialize_tensor(tensor, self.directory).numpy())

    def uncast_producer(self, name: str) -> onnx.NodeProto | None:
        """Return the node that makes a value, before casts."""
        node = self.producers.get(name)
        while node is not None and node.op_type in {"Cast", "Identity"}:
            node = self.producers.get(node.input[0])
        return node

    def scalar(self, name: str) -> int | None:
        """Return an integer constant of one element; None for others."""
        tensor = self.tensors.get(name)
        if tensor is None or prod(tensor.dims) != 1:
            return None
        array = self.array(name)
        return int(array.reshape(-1)[0]) if array is not None and array.dtype.kind in "iu" else None


@dataclass(frozen=True)
class Table:
    """A constant, and what picks its rows."""

    name: str
    shape: tuple[int, ...]
    index: str
    """The value whose elements are numbers of rows."""
    axis: int = 0
    """Along which the rows are."""
    depth: int = 1
    """Number of axes from the first that an index picks together: GatherND."""
    first: int = 0
    """The index of row 0: of the later ones of several tables in one, it is not 0."""

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return prod(self.shape[: self.depth]) if self.depth > 1 else self.shape[self.axis]


def tables_of(values: FileValues) -> list[Table]:
    """Return the tables of a file, each constant once for each value that picks its rows."""
    found: dict[tuple[str, str], Table] = {}
    for node in values.producers.values():
        for table in _read_by(node, values):
            found.setdefault((table.name, table.index), table)
    return list(found.values())


def _read_by(node: onnx.NodeProto, values: FileValues) -> Iterator[Table]:
    if node.op_type in {"Gather", "GatherElements"}:
        read = Table("", (), node.input[1], axis=int(_attribute(node, "axis", 0)))
        yield from _constants_of(node.input[0], read, values)
    elif node.op_type == "GatherND" and not _attribute(node, "batch_dims", 0):
        read = Table("", (), node.input[1], depth=_depth_of(node.input[1], values))
        yield from _constants_of(node.input[0], read, values)
    elif node.op_type in {"MatMul", "Gemm"}:
        one_hot = _one_hot_behind(node.input[0], values)
        if one_hot is not None:
            read = Table("", (), one_hot, axis=int(_attribute(node, "transB", 0)))
            yield from _constants_of(node.input[1], read, values)


def _constants_of(
    name: str, read: Table, values: FileValues, steps: int = MOST_STEPS
) -> Iterator[Table]:
    """Yield the constants with the same rows as a value of which rows are read."""
    tensor = values.tensors.get(name)
    if tensor is not None:
        axis = read.axis % max(len(tensor.dims), 1)
        if len(tensor.dims) >= max(read.depth, 1) and tensor.data_type != onnx.TensorProto.STRING:
            table = Table(name, tuple(tensor.dims), read.index, axis, read.depth, read.first)
            if table.rows > 1 and 0 not in table.shape:
                yield table
        return
    node = values.producers.get(name)
    if node is None or not steps or node.op_type in _OTHER_ROWS:
        return
    if node.op_type == "Transpose":
        order = list(_attribute(node, "perm", ()))
        if -len(order) <= read.axis < len(order) and read.depth == 1:
            turned = Table("", (), read.index, order[read.axis], 1, read.first)
            yield from _constants_of(node.input[0], turned, values, steps - 1)
        return
    if node.op_type == "Concat":
        yield from _parts_of(node, read, values, steps)
        return
    for own in _with_rows(node, values):
        yield from _constants_of(own, read, values, steps - 1)


def _with_rows(node: onnx.NodeProto, values: FileValues) -> list[str]:
    """Return the inputs whose rows are those of the result: of constants, those of most dims."""
    if node.op_type not in _BY_ELEMENT:
        return list(node.input[:1])
    ranks = {name: len(values.tensors[name].dims) for name in node.input if name in values.tensors}
    largest = max(ranks.values(), default=0)
    others = len(ranks) < len(node.input)
    return [
        name
        for name in node.input
        if name not in ranks or (ranks[name] == largest and (largest > 1 or not others))
    ]


def _parts_of(node: onnx.NodeProto, read: Table, values: FileValues, steps: int) -> Iterator[Table]:
    """Yield the tables that a Concat joins, as far as the lengths of those before are known."""
    joined = int(_attribute(node, "axis", 0)) == read.axis
    first = read.first
    for name in node.input if read.depth == 1 else ():
        own = Table("", (), read.index, read.axis, 1, first)
        yield from _constants_of(name, own, values, steps - 1)
        tensor = values.tensors.get(name)
        if joined:
            if tensor is None or not -len(tensor.dims) <= read.axis < len(tensor.dims):
                return
            first += tensor.dims[read.axis]


def _depth_of(index: str, values: FileValues) -> int:
    """Return how many numbers make an index of GatherND; 1 if unknown."""
    node = values.uncast_producer(index)
    return len(node.input) if node is not None and node.op_type == "Concat" else 1


def _one_hot_behind(name: str, values: FileValues) -> str | None:
    """Return the numbers that a value holds as one-hot rows; None if it is something else."""
    node = values.producers.get(name)
    for _ in range(MOST_STEPS):
        if node is None or node.op_type == "OneHot":
            return None if node is None else node.input[0]
        if node.op_type == "Equal":  # with all numbers from 0
            return node.input[0] if _counts(values.array(node.input[1])) else None
        node = values.producers.get(node.input[0]) if node.op_type in _MOVING else None
    return None


def _counts(array: Array | None) -> bool:
    return array is not None and np.array_equal(array.reshape(-1), np.arange(array.size))


def _attribute(node: onnx.NodeProto, name: str, default: Any) -> Any:  # noqa: ANN401
    for attribute in node.attribute:
        if attribute.name == name:
            return onnx.helper.get_attribute_value(attribute)
    return default
