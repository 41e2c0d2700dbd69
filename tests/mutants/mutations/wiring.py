"""Values that go to the wrong place, or are left out on the way."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import onnx

from mutants.mutations.graph import (
    FLOATS,
    INTEGERS,
    Graph,
    Node,
    attribute,
    before,
    given,
    make,
    set_attribute,
)
from mutants.mutations.registry import Edit, mutation

_ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Mish", "PRelu", "Selu")


@mutation
def swapped_inputs(graph: Graph) -> Iterator[Edit]:
    """Operands of what does not commute, exchanged (aten.rsub is b - a)."""
    ops = ("Sub", "Div", "Pow", "Mod", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
    for node in graph.of(*ops):
        yield node.output[0], partial(_exchange, node, 0, 1)
    for node in graph.of("Where"):
        yield node.output[0], partial(_exchange, node, 1, 2)


def _exchange(node: Node, one: int, other: int) -> None:
    node.input[one], node.input[other] = node.input[other], node.input[one]


@mutation
def concatenation_order(graph: Graph) -> Iterator[Edit]:
    """Parts joined in another order."""
    for node in graph.of("Concat"):
        known = [graph.type_of(name) for name in node.input]
        if len(known) > 1 and node.input[0] != node.input[1] and known[0] in FLOATS:
            yield node.output[0], partial(_exchange, node, 0, 1)


@mutation
def split_order(graph: Graph) -> Iterator[Edit]:
    """Queries for keys: the parts of one projection exchanged."""
    for node in graph.of("Split"):
        if len(node.output) > 1:
            yield node.output[0], partial(_exchange_outputs, node)


def _exchange_outputs(node: Node) -> None:
    node.output[0], node.output[1] = node.output[1], node.output[0]


@mutation
def swapped_outputs(graph: Graph) -> Iterator[Edit]:
    """Two outputs of one type under each other's name."""
    listed = list(graph.model.graph.output)
    for place, one in enumerate(listed):
        for other in listed[place + 1 :]:
            same = one.type.tensor_type.elem_type == other.type.tensor_type.elem_type
            if same and len(one.type.tensor_type.shape.dim) == len(
                other.type.tensor_type.shape.dim
            ):
                yield f"{one.name} and {other.name}", partial(_rename, graph, one.name, other.name)


def _rename(graph: Graph, one: str, other: str) -> None:
    swapped = {one: other, other: one}
    for node in graph.of():
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                names[place] = swapped.get(name, name)


@mutation
def missing_mask(graph: Graph) -> Iterator[Edit]:
    """A mask that got lost on its way (pytorch/pytorch#159973, microsoft/onnxscript#2479)."""
    for node in graph.of("Where"):
        for place in (1, 2):
            array = graph.constant(node.input[place])
            if array is not None and array.dtype.kind == "f":
                yield node.output[0], partial(graph.bypass, node, 3 - place)
    for node in graph.of("And", "Or"):
        yield node.output[0], partial(graph.bypass, node, 0)
        yield f"{node.output[0]}'s other", partial(graph.bypass, node, 1)
    for node in graph.of("Not"):
        yield node.output[0], partial(graph.bypass, node, 0)


@mutation
def missing_activation(graph: Graph) -> Iterator[Edit]:
    """An activation that the graph does without."""
    for node in graph.of(*_ACTIVATIONS, "Abs", "Neg", "Exp"):
        yield node.output[0], partial(graph.bypass, node, 0)


@mutation
def other_activation(graph: Graph) -> Iterator[Edit]:
    """The cheaper cousin of an activation."""
    cousins = {"Sigmoid": "HardSigmoid", "HardSwish": "Relu", "Mish": "Softplus", "Selu": "Elu"}
    for node in graph.of(*cousins):
        yield node.output[0], partial(graph.become, node, cousins[node.op_type], [node.input[0]])


@mutation
def missing_scale(graph: Graph) -> Iterator[Edit]:
    """A factor that got lost: the scale of attention, of a normalisation."""
    for node in graph.of("Mul", "Div"):
        for place in range(2):
            array = graph.constant(node.input[place])
            keeps = node.op_type == "Mul" or place == 1
            if array is not None and array.dtype.kind == "f" and keeps:
                yield node.output[0], partial(graph.feed, node, place, np.ones_like(array))


@mutation
def dropout_left_on(graph: Graph) -> Iterator[Edit]:
    """Dropout exported in train mode (pytorch/pytorch#103681, #16547)."""
    for node in graph.of("Relu", "Softmax", "Tanh", "Gelu", "LayerNormalization", "Sigmoid"):
        if graph.type_of(node.output[0]) == onnx.TensorProto.FLOAT:
            yield node.output[0], partial(_drop, graph, node)


def _drop(graph: Graph, node: Node) -> None:
    name = node.output[0]
    made = onnx.helper.make_node("Dropout", [before(name)], [name], name=f"drop_{name}")
    graph.feed(made, 1, np.array(0.1, dtype=np.float32))
    graph.feed(made, 2, np.array(True))
    graph.after(node, [made])


@mutation
def batch_statistics(graph: Graph) -> Iterator[Edit]:
    """BatchNorm in train mode: the batch's mean and variance (pytorch/pytorch#52758)."""
    for node in graph.of("BatchNormalization"):
        rank = graph.rank_of(node.input[0])
        if rank is not None:
            yield node.output[0], partial(_by_batch, graph, node, rank)


def _by_batch(graph: Graph, node: Node, rank: int) -> None:
    name, x = node.output[0], node.input[0]
    axes = make("Constant", [], f"{name}_axes")
    others = np.array([0, *range(2, rank)], dtype=np.int64)
    set_attribute(axes, "value", onnx.numpy_helper.from_array(others))
    parts = [
        axes,
        make("ReduceMean", [x, f"{name}_axes"], f"{name}_mean", keepdims=1),
        make("Sub", [x, f"{name}_mean"], f"{name}_centred"),
        make("Mul", [f"{name}_centred", f"{name}_centred"], f"{name}_square"),
        make("ReduceMean", [f"{name}_square", f"{name}_axes"], f"{name}_var", keepdims=0),
        make("ReduceMean", [x, f"{name}_axes"], f"{name}_flat", keepdims=0),
    ]
    node.input[3], node.input[4] = f"{name}_flat", f"{name}_var"
    graph.ahead(node, parts)


@mutation
def swapped_statistics(graph: Graph) -> Iterator[Edit]:
    """Scale and bias, or mean and variance, in the wrong order."""
    for node in graph.of("BatchNormalization"):
        yield f"{node.output[0]} scale, bias", partial(_exchange, node, 1, 2)
        yield f"{node.output[0]} mean, scale", partial(_exchange, node, 3, 1)


@mutation
def other_reduction(graph: Graph) -> Iterator[Edit]:
    """A sum for a mean, a mean for a maximum."""
    swapped = {"ReduceMean": "ReduceMax", "ReduceMax": "ReduceMean", "ReduceSum": "ReduceMean"}
    for node in graph.of(*swapped):
        if graph.type_of(node.input[0]) in FLOATS:
            yield node.output[0], partial(_retype, node, swapped[node.op_type])


def _retype(node: Node, op_type: str) -> None:
    node.op_type = op_type


@mutation
def control(graph: Graph) -> Iterator[Edit]:
    """Nothing: an Identity behind an operator, a reshape to the same shape."""
    for node in graph.of():
        if node.op_type in {"Constant", "Shape"} or not node.output[0]:
            continue
        kind = graph.type_of(node.output[0])
        if kind in FLOATS | INTEGERS:
            name = node.output[0]
            same = make("Identity", [before(name)], name)
            yield f"{name} again", partial(graph.after, node, [same])
    for node in graph.of("Dropout"):
        if not attribute(node, "training_mode") and not given(node, 2):
            yield node.output[0], partial(graph.bypass, node, 0)
