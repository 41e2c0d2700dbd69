"""Attributes that the exporter forgot, or read wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from mutants.mutations.graph import FLOATS, Graph, Node, attribute, given, set_attribute
from mutants.mutations.registry import Edit, mutation

_REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd")


def _set(graph: Graph, ops: Sequence[str], name: str, default: Any, change: Any) -> Iterator[Edit]:  # noqa: ANN401
    """Yield the nodes whose attribute `change` turns into something else."""
    for node in graph.of(*ops):
        old = attribute(node, name, default)
        new = None if old is None else change(old)
        if new is not None and new != old:
            yield f"{node.output[0]} {name} {old} to {new}", partial(set_attribute, node, name, new)


@mutation
def wrong_axis(graph: Graph) -> Iterator[Edit]:
    """An axis counted from the wrong end, or without the batch."""
    ops = ("Concat", "Gather", "ArgMax", "ArgMin", "Split", "GatherElements", "ScatterElements")
    for node in graph.of(*ops, "LogSoftmax", "TopK"):
        rank = graph.rank_of(node.input[0])
        if rank is not None and rank > 1:
            old = attribute(node, "axis", -1) % rank
            where = f"{node.output[0]} axis {old}"
            yield where, partial(set_attribute, node, "axis", (old + 1) % rank)
    for node in graph.of(*_REDUCTIONS):
        axes, rank = graph.constant(given(node, 1)), graph.rank_of(node.input[0])
        if axes is not None and rank is not None and axes.size < rank:
            where = f"{node.output[0]} axes {axes.tolist()}"
            yield where, partial(graph.feed, node, 1, (axes % rank + 1) % rank)


@mutation
def softmax_axis(graph: Graph) -> Iterator[Edit]:
    """Softmax over another axis: its meaning changed with opset 13."""
    for node in graph.of("Softmax", "LogSoftmax"):
        rank = graph.rank_of(node.input[0]) or 2
        old = attribute(node, "axis", -1) % rank
        yield f"{node.output[0]} axis {old}", partial(set_attribute, node, "axis", (old - 1) % rank)


@mutation
def keepdims(graph: Graph) -> Iterator[Edit]:
    """A reduced axis kept, or dropped; broadcasting may hide it."""
    yield from _set(graph, (*_REDUCTIONS, "ArgMax"), "keepdims", 1, lambda old: 1 - old)


@mutation
def epsilon(graph: Graph) -> Iterator[Edit]:
    """Another epsilon: ONNX's default, or the one that float16 lost (pytorch/pytorch#86580)."""
    ops = ("BatchNormalization", "LayerNormalization", "InstanceNormalization")
    yield from _set(graph, ops, "epsilon", 1e-5, lambda old: 1e-5 if old > 2e-5 else 1e-3)
    for node in graph.of("Add"):
        for place in range(2):
            array = graph.constant(node.input[place])
            if array is not None and array.size == 1 and 0 < float(array.flat[0]) <= 2e-2:
                wrong = array * 0 if array < 1e-7 else array / 10
                yield f"{node.output[0]} {array}", partial(graph.feed, node, place, wrong)


@mutation
def slope(graph: Graph) -> Iterator[Edit]:
    """alpha of LeakyRelu, Elu, HardSigmoid at ONNX's default."""
    yield from _set(graph, ("LeakyRelu",), "alpha", 0.01, lambda _: 0.01)
    yield from _set(graph, ("Elu",), "alpha", 1.0, lambda _: 1.0)
    yield from _set(graph, ("HardSigmoid",), "alpha", 0.2, lambda _: 0.2)


@mutation
def gelu_approximation(graph: Graph) -> Iterator[Edit]:
    """The tanh formula for gelu, or erf's for gelu_tanh (apple/coremltools#2863)."""
    swapped = {"none": "tanh", "tanh": "none"}
    yield from _set(graph, ("Gelu",), "approximate", "none", swapped.get)


@mutation
def coordinates(graph: Graph) -> Iterator[Edit]:
    """align_corners and its kin confused (pytorch/pytorch#22906, #183523)."""
    for wrong in ("align_corners", "asymmetric", "half_pixel"):
        name = "coordinate_transformation_mode"
        yield from _set(graph, ("Resize",), name, "half_pixel", lambda _, new=wrong: new)
    yield from _set(graph, ("Resize",), "nearest_mode", "round_prefer_floor", lambda _: "ceil")
    yield from _set(graph, ("Resize",), "cubic_coeff_a", None, lambda _: -0.5)


@mutation
def count_include_pad(graph: Graph) -> Iterator[Edit]:
    """Padding counted in means, or not: the defaults differ (pytorch/pytorch#13934)."""
    yield from _set(graph, ("AveragePool",), "count_include_pad", 0, lambda old: 1 - old)


@mutation
def ceil_mode(graph: Graph) -> Iterator[Edit]:
    """ceil_mode of a pool lost (pytorch/pytorch#99424)."""
    pools = ("MaxPool", "AveragePool", "LpPool")
    yield from _set(graph, pools, "ceil_mode", 0, lambda old: 1 - old)


@mutation
def pad_mode(graph: Graph) -> Iterator[Edit]:
    """Padding by another rule: zeros for reflections, copies of the edge for either."""
    swapped = {"reflect": "constant", "edge": "reflect", "constant": "edge"}
    yield from _set(graph, ("Pad",), "mode", "constant", swapped.get)


@mutation
def asymmetric_padding(graph: Graph) -> Iterator[Edit]:
    """All padding on one side: the size is right, the image moved (SAME_UPPER read wrongly)."""

    def moved(pads: list[int]) -> list[int] | None:
        half = len(pads) // 2
        total = [pads[i] + pads[i + half] for i in range(half)]
        return [0] * half + total if any(total) else None

    yield from _set(graph, ("Conv", "MaxPool", "AveragePool"), "pads", None, moved)


@mutation
def dilations(graph: Graph) -> Iterator[Edit]:
    """Dilations forgotten, the padding made to fit."""
    for node in graph.of("Conv"):
        old = attribute(node, "dilations", [])
        kernel = attribute(node, "kernel_shape", [])
        pads = attribute(node, "pads", [0] * 2 * len(kernel))
        if any(size > 1 for size in old) and kernel:
            fewer = [(k - 1) * (d - 1) for k, d in zip(kernel, old, strict=True)]
            half = len(kernel)
            fit = [
                pads[i] - fewer[i % half] // 2 - (i >= half) * (fewer[i % half] % 2)
                for i in range(2 * half)
            ]
            if min(fit) >= 0:
                yield node.output[0], partial(_undilated, node, fit)


def _undilated(node: Node, pads: list[int]) -> None:
    set_attribute(node, "pads", pads)
    set_attribute(node, "dilations", [1] * (len(pads) // 2))


@mutation
def cumulative_sums(graph: Graph) -> Iterator[Edit]:
    """Running sums that leave out their own element, or run backwards."""
    yield from _set(graph, ("CumSum",), "exclusive", 0, lambda old: 1 - old)
    yield from _set(graph, ("CumSum",), "reverse", 0, lambda old: 1 - old)


@mutation
def last_of_ties(graph: Graph) -> Iterator[Edit]:
    """The last of equal largest values in place of the first (pytorch/pytorch#38329)."""
    yield from _set(graph, ("ArgMax", "ArgMin"), "select_last_index", 0, lambda old: 1 - old)


@mutation
def top_k_order(graph: Graph) -> Iterator[Edit]:
    """The smallest for the largest, or in any order (pytorch/pytorch#25739)."""
    yield from _set(graph, ("TopK",), "largest", 1, lambda old: 1 - old)
    yield from _set(graph, ("TopK",), "sorted", 1, lambda old: 1 - old)


@mutation
def lost_reduction(graph: Graph) -> Iterator[Edit]:
    """Repeated indices overwrite in place of adding up (pytorch/pytorch#61034, #111159)."""
    ops = ("ScatterElements", "ScatterND")
    yield from _set(graph, ops, "reduction", "none", lambda old: None if old == "none" else "none")
    other = {"add": "max", "max": "add"}
    yield from _set(graph, ops, "reduction", "none", other.get)


@mutation
def shuffle_order(graph: Graph) -> Iterator[Edit]:
    """Pixels shuffled depth first (onnx/onnx#1957, microsoft/onnxscript#2891)."""
    yield from _set(graph, ("DepthToSpace",), "mode", "DCR", lambda _: "DCR")


@mutation
def reset_gate(graph: Graph) -> Iterator[Edit]:
    """linear_before_reset lost (microsoft/onnxscript#2852, pytorch/pytorch#189225)."""
    yield from _set(graph, ("GRU",), "linear_before_reset", 0, lambda old: 1 - old)


@mutation
def direction(graph: Graph) -> Iterator[Edit]:
    """A recurrent layer that reads from the end."""
    reverse = {"forward": "reverse", "reverse": "forward"}
    yield from _set(graph, ("LSTM", "GRU"), "direction", "forward", reverse.get)


@mutation
def triangle(graph: Graph) -> Iterator[Edit]:
    """The other triangle, or its diagonal: who sees whom in causal attention."""
    yield from _set(graph, ("Trilu",), "upper", 1, lambda old: 1 - old)
    for node in graph.of("Trilu"):
        old = graph.constant(given(node, 1))
        diagonal = np.array(1) if old is None else old + 1
        yield f"{node.output[0]} diagonal", partial(graph.feed, node, 1, diagonal)


@mutation
def remainder_sign(graph: Graph) -> Iterator[Edit]:
    """A remainder with the dividend's sign, as in C (pytorch/pytorch#86146)."""
    for node in graph.of("Mod"):
        if graph.type_of(node.input[0]) not in FLOATS:
            new = 1 - attribute(node, "fmod", 0)
            yield node.output[0], partial(set_attribute, node, "fmod", new)


@mutation
def permutation(graph: Graph) -> Iterator[Edit]:
    """Two axes of one transpose confused."""
    for node in graph.of("Transpose"):
        old = list(attribute(node, "perm", []))
        if len(old) > 2:
            new = [*old[:-2], old[-1], old[-2]]
            yield f"{node.output[0]} {old}", partial(set_attribute, node, "perm", new)
