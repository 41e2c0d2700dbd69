"""Sizes, indices and slices that are off, or were those of the export."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import onnx

from mutants.mutations.graph import Array, Graph, Node, before, given, make
from mutants.mutations.registry import Edit, mutation

_LARGE = 1 << 31
"""Ends from here on mean: to the end."""
_FOLDED = ("Range", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Where", "Cast",
           "Not", "And", "ReduceSum", "ReduceMax", "ReduceMean", "Clip", "Max", "ArgMax", "IsNaN",
           "Sub", "Cos", "Sin", "Gather", "Sigmoid")  # fmt: skip


@mutation
def baked_dim(graph: Graph) -> Iterator[Edit]:
    """A size of the export written into the file (pytorch/pytorch#157621, #122321)."""
    for node in graph.of("Shape"):
        yield from _frozen(graph, node)
    for node in graph.of("Reshape", "Expand"):
        target = given(node, 1)
        value = graph.observed.get(target)
        if graph.constant(target) is None and value is not None:
            yield f"{node.output[0]} to {value.tolist()}", partial(graph.feed, node, 1, value)


@mutation
def folded_example(graph: Graph) -> Iterator[Edit]:
    """A value of the export's inputs folded into the file (roboflow/rf-detr#871)."""
    for node in graph.of(*_FOLDED):
        varies = any(graph.constant(name) is None for name in node.input if name)
        if varies and node.output[0] not in graph.outputs:
            yield from _frozen(graph, node)


def _frozen(graph: Graph, node: Node) -> Iterator[Edit]:
    value = graph.observed.get(node.output[0])
    if value is not None:
        where = f"{node.output[0]} {value.tolist()}" if value.size < 5 else node.output[0]
        yield where, partial(_freeze, graph, node, value)


def _freeze(graph: Graph, node: Node, value: Array) -> None:
    graph.become(node, "Constant", value=onnx.numpy_helper.from_array(np.asarray(value, order="C")))


@mutation
def slice_off_by_one(graph: Graph) -> Iterator[Edit]:
    """A slice that begins or ends one element away (pytorch/pytorch#9822)."""
    for node in graph.of("Slice"):
        for place, word in ((1, "start"), (2, "end")):
            old = graph.constant(given(node, place))
            if old is not None:
                moved = np.where(np.abs(old) >= _LARGE, -1, old + 1)
                yield f"{node.output[0]} {word} {old}", partial(graph.feed, node, place, moved)
            elif given(node, place):
                yield f"{node.output[0]} {word}", partial(_one_more, graph, node, place)


def _one_more(graph: Graph, node: Node, place: int) -> None:
    name, source = f"{node.output[0]}_moved{place}", node.input[place]
    made = make("Sub", [source], name)
    graph.feed(made, 1, np.array([1], dtype=np.int64))
    node.input[place] = name
    graph.ahead(node, [made])


@mutation
def index_off_by_one(graph: Graph) -> Iterator[Edit]:
    """Another element picked: -1 read as 0, counting from one (pytorch/pytorch#16497)."""
    for node in graph.of("Gather", "GatherElements"):
        table, index = graph.constant(node.input[0]), graph.constant(given(node, 1))
        source = graph.observed.get(node.input[0])
        if table is None and index is not None and (source is None or source.dtype.kind == "f"):
            wrong = np.where(index < 0, 0, np.where(index > 0, index - 1, 1))
            yield f"{node.output[0]} {index}", partial(graph.feed, node, 1, wrong)


@mutation
def range_off_by_one(graph: Graph) -> Iterator[Edit]:
    """Positions that count from one: arange and a cache (huggingface's position_ids)."""
    for node in graph.of("Range"):
        if graph.type_of(node.output[0]) == onnx.TensorProto.INT64:
            yield node.output[0], partial(_counted, graph, node)


def _counted(graph: Graph, node: Node) -> None:
    name = node.output[0]
    made = make("Sub", [before(name)], name)
    zero_based = make("Abs", [f"{name}_less"], name)
    graph.feed(made, 1, np.array(1, dtype=np.int64))
    made.output[0] = f"{name}_less"
    graph.after(node, [made, zero_based])


@mutation
def reshape_order(graph: Graph) -> Iterator[Edit]:
    """A view in place of a transpose: sizes exchanged, elements in the old order."""
    for node in graph.of("Reshape"):
        old = graph.constant(given(node, 1))
        if old is not None and old.size > 2 and old[-1] != old[-2] and min(old[-2:]) > 0:
            swapped = old.copy()
            swapped[-2:] = old[:-3:-1]
            yield f"{node.output[0]} {old}", partial(graph.feed, node, 1, swapped)
    for node in graph.of("Transpose"):
        source, result = graph.observed.get(node.input[0]), graph.observed.get(node.output[0])
        if source is not None and result is not None and source.shape != result.shape:
            target = np.array([-1, *result.shape[1:]], dtype=np.int64)
            yield f"{node.output[0]} viewed", partial(_view, graph, node, target)


def _view(graph: Graph, node: Node, target: Array) -> None:
    graph.become(node, "Reshape", [node.input[0]])
    graph.feed(node, 1, target)


@mutation
def shifted_threshold(graph: Graph) -> Iterator[Edit]:
    """A threshold or number of kept elements that is one off."""
    for node in graph.of("TopK"):
        k = graph.constant(given(node, 1))
        if k is not None and k.size == 1 and int(k.flat[0]) > 1:
            yield f"{node.output[0]} k {k}", partial(graph.feed, node, 1, k - 1)
    for node in graph.of("NonMaxSuppression"):
        overlap = graph.constant(given(node, 3))
        if overlap is not None:
            wrong = (overlap + 0.1).astype(overlap.dtype)
            yield f"{node.output[0]} IoU {overlap}", partial(graph.feed, node, 3, wrong)
