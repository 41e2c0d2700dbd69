"""Symbolic functions for operators of scripted models that torch's TorchScript exporter lacks.

A trace shows nn.GRUCell as its matrix products; a script keeps `aten::gru_cell`, and the checks of
shapes around it (`x.dim() in (1, 2)`). Registered below a user's own symbolic functions.

The formulas are those of torch.nn.RNNCell, LSTMCell and GRUCell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from modelexport_exporter.convert.script_bits import BITS
from modelexport_exporter.convert.script_bits import SINCE as BITS_SINCE
from modelexport_exporter.convert.script_comparisons import (
    COMPARISONS,
    LIKE_SINCE,
    WITH_NUMBERS,
)
from modelexport_exporter.convert.script_distances import DISTANCES
from modelexport_exporter.convert.script_distances import SINCE as DISTANCES_SINCE
from modelexport_exporter.convert.script_divisions import DIVISIONS, INT64, SINCE
from modelexport_exporter.convert.script_lists import LISTS
from modelexport_exporter.convert.script_lists import SINCE as LISTS_SINCE
from modelexport_exporter.convert.script_sorts import SINCE as SORTS_SINCE
from modelexport_exporter.convert.script_sorts import SORTS
from modelexport_exporter.convert.script_sums import SINCE as SUMS_SINCE
from modelexport_exporter.convert.script_sums import SUMS
from modelexport_exporter.torch_internals.symbolics import (
    NEWEST_SYMBOLIC,
    dim_size,
    is_none,
    is_registered,
    list_contains,
    register_symbolics,
    slice_value,
    unpack_list,
)

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""

_SINCE = 9
_BOOL = 9
"""onnx.TensorProto's element type."""


@contextmanager
def script_symbolics() -> Iterator[None]:
    """Register the functions that are not registered yet, for the time of a conversion."""
    added = {
        name: function
        for name, function in _FUNCTIONS.items()
        if name in _OVERRIDES or not is_registered(name, NEWEST_SYMBOLIC)
    }
    with (
        register_symbolics(added, _SINCE),
        register_symbolics({**DIVISIONS, **COMPARISONS}, SINCE),
        register_symbolics(DISTANCES, DISTANCES_SINCE),
        register_symbolics(SORTS, SORTS_SINCE),
        register_symbolics(BITS, BITS_SINCE),
        register_symbolics(LISTS, LISTS_SINCE),
        register_symbolics(SUMS, SUMS_SINCE),
        register_symbolics(WITH_NUMBERS, LIKE_SINCE),
    ):
        yield


def _contains(g: Value, values: Value, element: Value) -> Value:
    """`element in values`, also where the list has become a constant tensor."""
    if values.node().kind() != "onnx::Constant":
        return list_contains(g, values, element)
    equal = g.op("Cast", g.op("Equal", values, element), to_i=INT64)
    return g.op("Cast", g.op("ReduceMax", equal, keepdims_i=0), to_i=_BOOL)


def _magnitude(g: Value, x: Value) -> Value:
    return g.op("Abs", x)


def _affine(g: Value, x: Value, weight: Value, bias: Value) -> Value:
    product = g.op("MatMul", x, g.op("Transpose", weight, perm_i=[1, 0]))
    return product if is_none(bias) else g.op("Add", product, bias)


def _chunks(g: Value, x: Value, weight: Value, count: int) -> list[Value]:
    """Split the gates, which are concatenated in the last dim; `weight` gives their width."""
    rows = dim_size(weight, 0)
    assert rows is not None, "a weight has a known shape"
    width = rows // count
    return [
        slice_value(g, x, axes=[-1], starts=[index * width], ends=[(index + 1) * width])
        for index in range(count)
    ]


def _gru_cell(g: Value, x: Value, hx: Value, *weights: Value) -> Value:
    w_ih, w_hh, b_ih, b_hh = weights
    given = _chunks(g, _affine(g, x, w_ih, b_ih), w_ih, 3)
    kept = _chunks(g, _affine(g, hx, w_hh, b_hh), w_hh, 3)
    reset = g.op("Sigmoid", g.op("Add", given[0], kept[0]))
    update = g.op("Sigmoid", g.op("Add", given[1], kept[1]))
    new = g.op("Tanh", g.op("Add", given[2], g.op("Mul", reset, kept[2])))
    return g.op("Add", new, g.op("Mul", update, g.op("Sub", hx, new)))


def _lstm_cell(g: Value, x: Value, state: Value, *weights: Value) -> tuple[Value, Value]:
    w_ih, w_hh, b_ih, b_hh = weights
    hx, cx = unpack_list(state)
    gates = g.op("Add", _affine(g, x, w_ih, b_ih), _affine(g, hx, w_hh, b_hh))
    take, forget, new, out = _chunks(g, gates, w_ih, 4)
    kept = g.op("Mul", g.op("Sigmoid", forget), cx)
    cell = g.op("Add", kept, g.op("Mul", g.op("Sigmoid", take), g.op("Tanh", new)))
    return g.op("Mul", g.op("Sigmoid", out), g.op("Tanh", cell)), cell


def _rnn_cell(activation: str) -> Callable[..., Any]:
    def cell(g: Value, x: Value, hx: Value, *weights: Value) -> Value:
        w_ih, w_hh, b_ih, b_hh = weights
        return g.op(activation, g.op("Add", _affine(g, x, w_ih, b_ih), _affine(g, hx, w_hh, b_hh)))

    return cell


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "prim::abs": _magnitude,
    "aten::__contains_": _contains,
    "aten::gru_cell": _gru_cell,
    "aten::lstm_cell": _lstm_cell,
    "aten::rnn_tanh_cell": _rnn_cell("Tanh"),
    "aten::rnn_relu_cell": _rnn_cell("Relu"),
}
_OVERRIDES = frozenset({"aten::__contains_"})
