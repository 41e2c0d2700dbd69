"""Numbers: how they are rounded, compared, limited, and what becomes of those that are none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import onnx

from mutants.mutations.graph import FLOATS, INTEGERS, Graph, Node, before, given, make
from mutants.mutations.registry import Edit, mutation

_TYPES = onnx.TensorProto
_NARROWER: dict[int, int] = {
    _TYPES.DOUBLE: _TYPES.FLOAT,
    _TYPES.FLOAT: _TYPES.FLOAT16,
    _TYPES.INT64: _TYPES.INT32,
}


@mutation
def rounding(graph: Graph) -> Iterator[Edit]:
    """Another way to round (microsoft/onnxscript#989)."""
    other = {"Floor": "Ceil", "Ceil": "Floor", "Round": "Floor"}
    for node in graph.of(*other):
        wrong = other[node.op_type]
        yield f"{node.output[0]} {wrong}", partial(graph.become, node, wrong, list(node.input))


@mutation
def half_away_from_zero(graph: Graph) -> Iterator[Edit]:
    """Halves rounded up in place of to the even number."""
    for node in graph.of("Round"):
        yield node.output[0], partial(_half_up, graph, node)


def _half_up(graph: Graph, node: Node) -> None:
    name, kind = node.output[0], graph.type_of(node.input[0])
    half = np.array(0.5, dtype=onnx.helper.tensor_dtype_to_np_dtype(kind))
    made = make("Add", [node.input[0]], f"{name}_half")
    graph.feed(made, 1, half)
    graph.become(node, "Floor", [f"{name}_half"])
    graph.ahead(node, [made])


@mutation
def truncated_division(graph: Graph) -> Iterator[Edit]:
    """Integer division that rounds to zero in place of down (pytorch/pytorch#78442, #44692)."""
    for node in graph.of("Where"):
        types = {graph.type_of(node.input[1]), graph.type_of(node.input[2])}
        producers = {out: other.op_type for other in graph.of() for out in other.output}
        if types & INTEGERS and "Div" in {producers.get(name) for name in node.input[1:]}:
            place = 1 if producers.get(node.input[1]) == "Div" else 2
            yield node.output[0], partial(graph.bypass, node, place)
    for node in graph.of("Div"):
        if graph.type_of(node.output[0]) in INTEGERS:
            yield f"{node.output[0]} + 0.5", partial(_divide_rounding, graph, node)


def _divide_rounding(graph: Graph, node: Node) -> None:
    """Divide as floats and round to the nearest."""
    name, kind = node.output[0], graph.type_of(node.output[0])
    parts = [
        make("Cast", [node.input[0]], f"{name}_left", to=_TYPES.FLOAT),
        make("Cast", [node.input[1]], f"{name}_right", to=_TYPES.FLOAT),
        make("Div", [f"{name}_left", f"{name}_right"], f"{name}_exact"),
        make("Round", [f"{name}_exact"], f"{name}_near"),
    ]
    graph.become(node, "Cast", [f"{name}_near"], to=kind)
    graph.ahead(node, parts)


@mutation
def strictness(graph: Graph) -> Iterator[Edit]:
    """< for <= and > for >=: they differ where values are equal."""
    other = {"Less": "LessOrEqual", "LessOrEqual": "Less"}
    other |= {"Greater": "GreaterOrEqual", "GreaterOrEqual": "Greater"}
    for node in graph.of(*other):
        wrong = other[node.op_type]
        yield f"{node.output[0]} {wrong}", partial(graph.become, node, wrong, list(node.input))


@mutation
def lost_limit(graph: Graph) -> Iterator[Edit]:
    """One end of a clamp dropped (microsoft/onnxconverter-common#17)."""
    for node in graph.of("Clip"):
        for place, word in ((1, "min"), (2, "max")):
            if given(node, place):
                yield f"{node.output[0]} {word}", partial(_leave_out, node, place)


def _leave_out(node: Node, place: int) -> None:
    node.input[place] = ""


@mutation
def added_limit(graph: Graph) -> Iterator[Edit]:
    """relu6 for relu, saturation where there was none."""
    for node in graph.of("Relu", "Gemm", "Conv", "LeakyRelu", "Gelu"):
        if graph.type_of(node.output[0]) == _TYPES.FLOAT:
            yield node.output[0], partial(_limit, graph, node)


def _limit(graph: Graph, node: Node) -> None:
    name = node.output[0]
    made = make("Clip", [before(name)], name)
    graph.feed(made, 1, np.array(-6, dtype=np.float32))
    graph.feed(made, 2, np.array(6, dtype=np.float32))
    graph.after(node, [made])


@mutation
def limits_for_nan(graph: Graph) -> Iterator[Edit]:
    """max(x, y) as x > y ? x : y, which loses NaN (pytorch/pytorch#130826, onnx/onnx#6003)."""
    for op_type, compare in (("Max", "Greater"), ("Min", "Less")):
        for node in graph.of(op_type):
            if len(node.input) == 2 and graph.type_of(node.output[0]) in FLOATS:
                yield node.output[0], partial(_choose, graph, node, compare)


def _choose(graph: Graph, node: Node, compare: str) -> None:
    name, (left, right) = node.output[0], list(node.input)
    graph.become(node, "Where", [f"{name}_which", left, right])
    graph.ahead(node, [make(compare, [left, right], f"{name}_which")])


@mutation
def nan_unseen(graph: Graph) -> Iterator[Edit]:
    """isnan or isinf that is never true: nan_to_num got lost, or a fast-math build."""
    for node in graph.of("IsNaN", "IsInf"):
        yield node.output[0], partial(_never, graph, node)


def _never(graph: Graph, node: Node) -> None:
    name, source = node.output[0], node.input[0]
    graph.become(node, "Not", [f"{name}_same"])
    wide = make("Shape", [source], f"{name}_shape")
    filled = make("ConstantOfShape", [f"{name}_shape"], f"{name}_same")
    true = onnx.numpy_helper.from_array(np.array([True]))
    filled.attribute.append(onnx.helper.make_attribute("value", true))
    graph.ahead(node, [wide, filled])


@mutation
def narrowed_value(graph: Graph) -> Iterator[Edit]:
    """A value that goes through a narrower type (pytorch/pytorch#86580, #60731)."""
    for node in graph.of("MatMul", "Gemm", "Conv", "Add", "Mul", "Sub", "Div", "CumSum", "Softmax"):
        kind = graph.type_of(node.output[0])
        if kind in _NARROWER and graph.rank_of(node.output[0]) != 0:
            yield node.output[0], partial(_narrow, graph, node, kind)


def _narrow(graph: Graph, node: Node, kind: int) -> None:
    name = node.output[0]
    inner = f"{name}_narrow"
    down = make("Cast", [before(name)], inner, to=_NARROWER[kind])
    graph.after(node, [down, make("Cast", [inner], name, to=kind)])


@mutation
def wrong_cast(graph: Graph) -> Iterator[Edit]:
    """A cast of a floating-point number that rounds it, or one of a truth value that counts."""
    for node in graph.of("Cast"):
        source, kind = graph.type_of(node.input[0]), graph.type_of(node.output[0])
        if source in FLOATS and kind in INTEGERS:
            yield node.output[0], partial(_rounded_first, graph, node)
        elif source in INTEGERS and kind in FLOATS:
            yield node.output[0], partial(_as_truth, graph, node)


def _rounded_first(graph: Graph, node: Node) -> None:
    name, source = f"{node.output[0]}_up", node.input[0]
    node.input[0] = name
    graph.ahead(node, [make("Ceil", [source], name)])


def _as_truth(graph: Graph, node: Node) -> None:
    name, source = f"{node.output[0]}_truth", node.input[0]
    node.input[0] = name
    graph.ahead(node, [make("Cast", [source], name, to=_TYPES.BOOL)])


@mutation
def truncated_scalar(graph: Graph) -> Iterator[Edit]:
    """A Python number that became an integer (pytorch/pytorch#20941)."""
    for node in graph.of("Mul", "Add", "Sub", "Div", "Pow", "Less", "Greater", "Where"):
        for place, name in enumerate(node.input):
            array = graph.constant(name)
            if array is None or array.dtype.kind != "f" or array.size != 1:
                continue
            number = float(array.flat[0])
            if np.isfinite(number) and number != int(number):
                yield (
                    f"{node.output[0]} {number:g}",
                    partial(graph.feed, node, place, np.trunc(array)),
                )


@mutation
def short_constant(graph: Graph) -> Iterator[Edit]:
    """A constant written with three digits."""
    for node in graph.of("Mul", "Add", "Div", "Sub"):
        for place, name in enumerate(node.input):
            array = graph.constant(name)
            if array is not None and array.dtype.kind == "f" and array.size == 1:
                wrong = np.asarray(float(f"{float(array.flat[0]):.3g}"), dtype=array.dtype)
                if wrong != array.reshape(()):
                    changed = wrong.reshape(array.shape)
                    yield f"{node.output[0]} {array}", partial(graph.feed, node, place, changed)
