"""Damages to one node of a file, as exporters do them: each names the node that goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

Array = NDArray[Any]
Change = Callable[[onnx.ModelProto, onnx.NodeProto], None]


@dataclass(frozen=True)
class Damage:
    """A change to one node; `successors`: what reads its output."""

    kind: str
    at: int
    node: str
    op: str
    successors: frozenset[str]
    change: Change

    def apply(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """Return a damaged copy."""
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        self.change(copy, copy.graph.node[self.at])
        return copy


INSTEAD = {
    "Relu": "Elu",
    "Sigmoid": "Tanh",
    "Tanh": "Sigmoid",
    "Sin": "Cos",
    "Exp": "Softplus",
    "Add": "Sub",
    "Sub": "Add",
    "Mul": "Add",
    "MaxPool": "AveragePool",
    "Softmax": "LogSoftmax",
    "LogSoftmax": "Softmax",
    "HardSwish": "Relu",
    "Erf": "Tanh",
    "Greater": "Less",
    "ReduceMean": "ReduceMax",
    "GlobalAveragePool": "GlobalMaxPool",
    "LeakyRelu": "Relu",
    "Abs": "Neg",
    "Gelu": "Relu",
    "Max": "Min",
}


def damages(model: onnx.ModelProto) -> Iterator[Damage]:
    """Yield every damage that applies to a node of the file."""
    uses = _uses(model.graph)
    for at, node in enumerate(model.graph.node):
        successors = frozenset(
            other.name for other in model.graph.node if set(other.input) & set(node.output)
        )
        for kind, change in _changes(model, node, uses):
            yield Damage(kind, at, node.name, node.op_type, successors, change)


def _uses(graph: onnx.GraphProto) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in graph.node:
        for name in node.input:
            found[name] = found.get(name, 0) + 1
    return found


def _changes(
    model: onnx.ModelProto, node: onnx.NodeProto, uses: dict[str, int]
) -> Iterator[tuple[str, Change]]:
    if node.op_type in INSTEAD:
        yield "another operator", _swap_operator
    for kind, operators, change in (
        ("inputs swapped", {"Sub", "Div", "MatMul", "Where"}, _swap_inputs),
        ("epsilon", {"LayerNormalization", "InstanceNormalization"}, _raise_epsilon),
        ("epsilon", {"BatchNormalization"}, _raise_epsilon),
        ("perm", {"Transpose"}, _turn),
        ("axis", {"Softmax", "LogSoftmax"}, _other_axis),
        ("coordinates", {"Resize"}, _align_corners),
        ("gates", {"LSTM", "GRU"}, _swap_gates),
    ):
        if node.op_type in operators:
            yield kind, change
    yield from _of_weights(model, node, uses)


def _of_weights(
    model: onnx.ModelProto, node: onnx.NodeProto, uses: dict[str, int]
) -> Iterator[tuple[str, Change]]:
    """Yield damages to what this node alone reads."""
    weights = {
        tensor.name: tensor
        for tensor in model.graph.initializer
        if tensor.data_type in {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE}
    }
    own = [name for name in node.input if name in weights and uses[name] == 1]
    for place, name in enumerate(own[:2]):
        dims = weights[name].dims
        if np.prod(dims) < 2:
            continue
        yield f"weight {place} flipped", _on_weight(name, _flip)
        yield f"weight {place} rounded", _on_weight(name, _round)
        if len(dims) == 1:
            yield f"weight {place} dropped", _on_weight(name, np.zeros_like)
        elif dims[-1] == dims[-2] and dims[-1] > 1:
            yield f"weight {place} transposed", _on_weight(name, _transpose)


def _swap_operator(model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    target = INSTEAD[node.op_type]
    node.op_type = target
    if target in {"Relu", "Tanh", "Cos", "GlobalMaxPool"}:
        del node.attribute[:]
    if target == "AveragePool":
        for attribute in list(node.attribute):
            if attribute.name in {"storage_order", "dilations"}:
                node.attribute.remove(attribute)


def _swap_inputs(_model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    first, second = (1, 2) if node.op_type == "Where" else (0, 1)
    node.input[first], node.input[second] = node.input[second], node.input[first]


def _set(node: onnx.NodeProto, name: str, value: object) -> None:
    for attribute in list(node.attribute):
        if attribute.name == name:
            node.attribute.remove(attribute)
    node.attribute.append(onnx.helper.make_attribute(name, value))


def _raise_epsilon(_model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    _set(node, "epsilon", 0.05)


def _turn(_model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    perm = list(next(item for item in node.attribute if item.name == "perm").ints)
    _set(node, "perm", [*perm[:-2], perm[-1], perm[-2]])


def _other_axis(_model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    _set(node, "axis", -2)


def _align_corners(_model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    _set(node, "coordinate_transformation_mode", "align_corners")


def _swap_gates(model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    def roll(values: Array) -> Array:
        parts = 4 if node.op_type == "LSTM" else 3
        return np.roll(values, values.shape[1] // parts, axis=1)

    _on_weight(node.input[1], roll)(model, node)


def _on_weight(name: str, change: Callable[[Array], Array]) -> Change:
    def damage(model: onnx.ModelProto, _node: onnx.NodeProto) -> None:
        tensor = next(item for item in model.graph.initializer if item.name == name)
        values = np.ascontiguousarray(change(numpy_helper.to_array(tensor).copy()))
        tensor.CopyFrom(numpy_helper.from_array(values, name))

    return damage


def _flip(values: Array) -> Array:
    values.flat[np.argmax(np.abs(values))] *= -1
    return values


def _round(values: Array) -> Array:
    step = np.abs(values).max() / 16
    rounded: Array = (np.round(values / step) * step).astype(values.dtype)
    return rounded


def _transpose(values: Array) -> Array:
    return values.swapaxes(-1, -2)
