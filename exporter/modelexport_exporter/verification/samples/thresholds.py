"""What an ONNX graph decides on, and at which of its constants: comparisons, limits, sides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

Array = NDArray[Any]

LARGEST_VECTOR = 256
"""Elements of a constant that values are compared with: the edges of buckets, limits of columns."""
MOST_STEPS = 12
"""Nodes between an operator that decides and the input."""
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
_INTEGERS = (onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.UINT64)
MOVING = frozenset(
    {
        *("Cast", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Pad"),
        *("Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
    }
)
"""Operators whose first input has the values of the result."""
COMPARING = frozenset(
    {
        "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Clip", "Where",
        "Mod",
    }
)  # fmt: skip
_PICKING = frozenset({"Mod", "Where"})
"""Of these, operators whose constants are no thresholds."""
AT_ZERO = frozenset({"Abs", "Celu", "Elu", "LeakyRelu", "PRelu", "Relu", "Selu", "Sign"})
"""Operators that decide at zero."""
BY_ATTRIBUTE = {
    "Clip": ("max", "min"),
    "HardSigmoid": (),
    "Shrink": ("lambd",),
    "ThresholdedRelu": ("alpha",),
}
"""Operators whose attributes are thresholds."""
_VALUES = ("value", "value_float", "value_floats", "value_int", "value_ints")
"""Attributes of Constant that hold numbers."""


def small_constants(graph: onnx.GraphProto) -> dict[str, Array]:
    """Return the small constants of numbers of a graph, by the name of their value."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    found = {name: numpy_helper.to_array(own) for name, own in tensors.items() if _is_small(own)}
    for node in graph.node:
        for value in _values_of(node) if node.op_type == "Constant" else ():
            found[node.output[0]] = value
    return found


def _values_of(constant: onnx.NodeProto) -> Iterator[Array]:
    for attribute in constant.attribute:
        if attribute.HasField("t"):
            if _is_small(attribute.t):
                yield numpy_helper.to_array(attribute.t)
        elif attribute.name in _VALUES:
            value = np.asarray(onnx.helper.get_attribute_value(attribute))
            if value.dtype.kind in "fi" and value.size <= LARGEST_VECTOR:
                yield value


def _is_small(tensor: onnx.TensorProto) -> bool:
    return (
        tensor.data_type in (*_FLOATS, *_INTEGERS)
        and math.prod(tensor.dims) <= LARGEST_VECTOR
        and not tensor.external_data
    )


@dataclass(frozen=True)
class GraphValues:
    """The nodes that make the values of a graph, and its small constants."""

    inputs: Mapping[str, int]
    """The types of the elements of the inputs, by name."""
    producers: Mapping[str, onnx.NodeProto]
    constants: Mapping[str, Array]

    @staticmethod
    def of(graph: onnx.GraphProto) -> GraphValues:
        """Return those of a graph."""
        constants = small_constants(graph)
        types = {entry.name: entry.type.tensor_type.elem_type for entry in graph.input}
        fed = {name: kind for name, kind in types.items() if name not in constants}
        producers = {output: node for node in graph.node for output in node.output}
        return GraphValues(fed, producers, constants)

    def constants_behind(self, name: str, steps: int = MOST_STEPS) -> Iterator[Array]:
        """Yield the constants that a value is made of by moving: an edge that a search picks."""
        if name in self.constants:
            yield self.constants[name]
            return
        node = self.producers.get(name)
        if node is None or not steps:
            return
        if node.op_type in MOVING:
            yield from self.constants_behind(node.input[0], steps - 1)

    def compared(self) -> Iterator[float | int]:
        """Yield the elements of the small constants that values are compared with."""
        for node in self.producers.values():
            for name in node.input if node.op_type in COMPARING else ():
                for constant in self.constants_behind(name):
                    yield from constant.reshape(-1).tolist()

    def divisors(self) -> Iterator[float | int]:
        """Yield the numbers that values are divided by, also for their remainder."""
        for node in self.producers.values():
            if node.op_type in {"Div", "Mod"}:
                for constant in self.constants_behind(node.input[1]):
                    yield from constant.reshape(-1).tolist()

    def decisions(self) -> Iterator[tuple[str, list[Array]]]:
        """Yield the values that nodes decide on, and the numbers that they decide at."""
        for node in self.producers.values():
            yield from self._decisions(node)

    def _decisions(self, node: onnx.NodeProto) -> Iterator[tuple[str, list[Array]]]:
        if node.op_type in AT_ZERO:
            yield node.input[0], [np.zeros(1)]
        elif targets := [*_attribute_thresholds(node)]:
            yield node.input[0], targets
        if node.op_type in COMPARING - _PICKING:
            for name in node.input:
                others = [self.constants[other] for other in node.input if other in self.constants]
                if others and name not in self.constants:
                    yield name, others


def _attribute_thresholds(node: onnx.NodeProto) -> Iterator[Array]:
    given = {attribute.name: attribute.f for attribute in node.attribute}
    if node.op_type == "HardSigmoid":
        alpha, beta = given.get("alpha", 0.2), given.get("beta", 0.5)
        if alpha:
            yield np.array([-beta / alpha, (1 - beta) / alpha])
    for name in BY_ATTRIBUTE.get(node.op_type, ()):
        if name in given:
            yield np.array([given[name], -given[name]])
