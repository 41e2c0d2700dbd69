"""Values that a file computes from sizes, at many sizes at once.

Arrays have a row for each combination of sizes. Integers are computed by numpy; other arithmetic
runs in onnxruntime's own kernels, one node at a time: float32 rounds as it does in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from modelexport_exporter.verification.shapes.sized import (
    Operands,
    UnknownError,
    Values,
    constant,
    known,
    product,
)

MOST_ELEMENTS = 256
"""Of a value that may be a shape."""
MOST_DIMS = 2
"""Of such a value; pads are a table of two columns while they are computed."""
ELEMENTWISE = frozenset(
    [
        *("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Floor", "Ceil", "Round", "Sqrt", "Cast"),
        *("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Not", "And", "Or"),
        *("Where", "Min", "Max", "Abs", "Neg", "Sign", "Reciprocal"),
    ]
)


def _quotient(one: Values, other: Values) -> Values:
    """Return the quotient, rounded towards zero."""
    rounded_down = (one % other != 0) & ((one < 0) != (other < 0))
    found: Values = one // other + rounded_down
    return found


_OF_INTEGERS: dict[str, Callable[..., Values]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _quotient,
    "Mod": np.mod,
    "Min": np.minimum,
    "Max": np.maximum,
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Not": np.logical_not,
    "Neg": np.negative,
    "Abs": np.abs,
    "Where": np.where,
}
"""What numpy computes as ONNX defines it, wrapping included."""
_DIVIDING = frozenset({"Div", "Mod"})
_OF_MANY = frozenset({"Min", "Max"})
"""Operators of any number of operands."""
_NOTHING_LOGGED = 4


def value_of(given: Operands, opset: int) -> Values:
    """Return the node's only result, [combinations or 1, …]. Raises UnknownError."""
    kind = given.node.op_type
    if kind in ELEMENTWISE:
        found = _elementwise(given.node, [known(value) for value in given.values], opset)
    elif kind in _RULES:
        found = _RULES[kind](given)
    else:
        raise UnknownError
    if found.ndim - 1 > MOST_DIMS or found[0].size > MOST_ELEMENTS:
        raise UnknownError
    return found


def _elementwise(node: onnx.NodeProto, values: Sequence[Values], opset: int) -> Values:
    rank = max((value.ndim for value in values), default=0)
    if not rank:
        raise UnknownError
    feeds = {
        f"i{place}": value.reshape(len(value), *(1,) * (rank - value.ndim), *value.shape[1:])
        for place, value in enumerate(values)
    }
    compute = _OF_INTEGERS.get(node.op_type)
    if compute is None or any(value.dtype.kind not in "bi" for value in values):
        return _by_kernel(node, feeds, opset)
    if node.op_type in _DIVIDING and not values[1].all():
        raise UnknownError  # onnxruntime's kernel ends the process
    if node.op_type == "Mod" and any(own.i for own in node.attribute):
        return _by_kernel(node, feeds, opset)
    aligned = list(feeds.values())
    return reduce(compute, aligned) if node.op_type in _OF_MANY else np.asarray(compute(*aligned))


def _by_kernel(node: onnx.NodeProto, feeds: Mapping[str, Values], opset: int) -> Values:
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    alone.input[:], alone.output[:] = list(feeds), ["o"]
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), None)
        for name, value in feeds.items()
    ]
    graph = helper.make_graph([alone], "value", inputs, [onnx.ValueInfoProto(name="o")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _NOTHING_LOGGED
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        found: Values = session.run(None, feeds)[0]
    except Exception as error:  # onnxruntime raises whatever it likes
        raise UnknownError from error
    return found


def _shape(given: Operands) -> Values:
    begin, end = given.attributes.get("start", 0), given.attributes.get("end")
    sizes = [known(size) for size in given.shape(0)[begin:end]]
    return _together(sizes) if sizes else np.zeros((1, 0), np.int64)


def _together(sizes: Sequence[Values]) -> Values:
    return np.stack(np.broadcast_arrays(*sizes), axis=1)


def _concat(given: Operands) -> Values:
    values = [known(value) for value in given.values]
    rows = max(map(len, values))
    axis = _place(given.attributes["axis"], values[0])
    whole = [np.broadcast_to(value, (rows, *value.shape[1:])) for value in values]
    return np.concatenate(whole, axis)


def _place(axis: int, value: Values) -> int:
    """Return the axis of the array, whose first one is that of combinations."""
    return (axis if axis >= 0 else axis + value.ndim - 1) + 1


def _gather(given: Operands) -> Values:
    data, places = known(given.value(0)), known(given.value(1))
    if len(places) != 1:
        raise UnknownError
    found: Values = np.take(data, places[0], _place(given.attributes.get("axis", 0), data))
    return found


def _slice(given: Operands) -> Values:
    data = known(given.value(0))
    starts, ends = known(given.numbers(1)), known(given.numbers(2))
    axes = given.numbers(3) or range(len(starts))
    steps = given.numbers(4) or [1] * len(starts)
    chosen = [slice(None)] * data.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        length = data.shape[_place(axis, data)]
        # Python reads an end of -1 as the last element; ONNX has one below all of them.
        last = None if step < 0 and end < -length else end
        chosen[_place(axis, data)] = slice(start, last, step)
    return data[tuple(chosen)]


def _reshape(given: Operands) -> Values:
    data, shape = known(given.value(0)), known(given.numbers(1))
    if 0 in shape:
        raise UnknownError
    return data.reshape(len(data), *shape)


def _squeeze(given: Operands) -> Values:
    data, axes = known(given.value(0)), given.axes(1)
    if axes is None:
        return data.reshape(len(data), *(size for size in data.shape[1:] if size != 1))
    return np.squeeze(data, tuple(_place(axis, data) for axis in axes))


def _unsqueeze(given: Operands) -> Values:
    data, axes = known(given.value(0)), known(given.axes(1))
    rank = data.ndim - 1 + len(axes)
    return np.expand_dims(data, tuple(axis % rank + 1 for axis in axes))


def _transpose(given: Operands) -> Values:
    data = known(given.value(0))
    order = given.attributes.get("perm", range(data.ndim - 1)[::-1])
    return data.transpose(0, *(place + 1 for place in order))


def _filled(given: Operands) -> Values:
    shape = constant(known(given.value(0)))
    fill = given.attributes.get("value")
    value = np.zeros(1, np.float32) if fill is None else onnx.numpy_helper.to_array(fill)
    if len(shape) > MOST_DIMS or np.prod(shape) > MOST_ELEMENTS:
        raise UnknownError
    return np.full((1, *shape), value.reshape(-1)[0], value.dtype)


def _reduced(compute: Callable[..., Values]) -> Callable[[Operands], Values]:
    def rule(given: Operands) -> Values:
        data, axes = known(given.value(0)), given.axes(1)
        if given.attributes.get("noop_with_empty_axes") and not axes:
            raise UnknownError
        places = tuple(_place(axis, data) for axis in axes or range(data.ndim - 1))
        keep = bool(given.attributes.get("keepdims", 1))
        return np.asarray(compute(data, axis=places, keepdims=keep)).astype(data.dtype)

    return rule


def _clipped(given: Operands) -> Values:
    data, low, high = known(given.value(0)), given.value(1), given.value(2)
    bounds = [bound for bound in (low, high) if bound is not None]
    if not bounds or any(bound.size != 1 for bound in bounds):
        raise UnknownError
    ends = [None if own is None else own.reshape(-1)[0] for own in (low, high)]
    found: Values = np.clip(data, *ends)
    return found


def _size(given: Operands) -> Values:
    return product(given.shape(0))


def _identity(given: Operands) -> Values:
    return known(given.value(0))


def _listed(given: Operands) -> Values:
    """Return the numbers of a short Range that is always the same."""
    start, limit, step = (constant(known(given.value(place)))[0] for place in range(3))
    return np.arange(start, limit, step, dtype=known(given.value(0)).dtype)[None]


def _expanded(given: Operands) -> Values:
    data, shape = known(given.value(0)), constant(known(given.value(1)))
    rank = max(len(shape), data.ndim - 1)
    aligned = data.reshape(len(data), *(1,) * (rank - data.ndim + 1), *data.shape[1:])
    return np.broadcast_to(aligned, np.broadcast_shapes(aligned.shape, (len(data), *shape)))


_RULES: dict[str, Callable[[Operands], Values]] = {
    "Shape": _shape,
    "Size": _size,
    "Identity": _identity,
    "Clip": _clipped,
    "Concat": _concat,
    "Gather": _gather,
    "Slice": _slice,
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "ConstantOfShape": _filled,
    "Range": _listed,
    "Expand": _expanded,
    "ReduceProd": _reduced(np.prod),
    "ReduceSum": _reduced(np.sum),
    "ReduceMax": _reduced(np.max),
    "ReduceMin": _reduced(np.min),
}
