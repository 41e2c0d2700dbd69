"""The types of what the loops of a script carry from one round to the next.

`total = 0` and then `total = total + x[i]` is an integer before the loop and a float in it. torch's
TorchScript exporter writes both as they are, and ONNX has one type for what a Loop carries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

_FIRST_CARRIED = 2
"""A Loop takes its number of rounds and its condition first."""
_ORDER = (
    ir.DataType.INT8,
    ir.DataType.BOOL,
    ir.DataType.INT64,
    ir.DataType.FLOAT,
    ir.DataType.DOUBLE,
)
"""A number becomes the later type where it meets one. INT8 stands for no value."""


@dataclass(frozen=True)
class Carried:
    """One value that a loop carries from round to round."""

    first: ir.Value
    """What it begins with."""
    entered: ir.Value
    """What each round begins with."""
    left: ir.Value
    """What each round makes of it."""
    last: ir.Value
    """What the loop returns."""


def carried_values(loop: ir.Node) -> Iterator[Carried]:
    """Yield what a loop carries."""
    body = loop.attributes["body"].as_graph()
    for place in range(_FIRST_CARRIED, len(loop.inputs)):
        first = loop.inputs[place]
        assert first is not None
        left, last = body.outputs[place - 1], loop.outputs[place - _FIRST_CARRIED]
        yield Carried(first, body.inputs[place], left, last)


def settle_loop_types(model: ir.Model) -> ir.Model:
    """Return the model, with casts where a Loop would carry values of two types."""
    for node in list(ir.traversal.RecursiveGraphIterator(model.graph)):
        if node.op_type == "Loop":
            _settle(node, node.attributes["body"].as_graph())
    return model


def _settle(loop: ir.Node, body: ir.Graph) -> None:
    for place, carried in enumerate(carried_values(loop), _FIRST_CARRIED):
        before, after = carried.entered.dtype, carried.left.dtype
        if before == after or before not in _ORDER or after not in _ORDER:
            continue
        if _stays(before, after):
            body.outputs[place - 1] = _cast_at_end(body, carried.left, before)
            continue
        cast = ir.node("Cast", [carried.first], {"to": after})
        cast.outputs[0].name = f"{carried.entered.name}_first"
        assert loop.graph is not None
        loop.graph.insert_before(loop, cast)
        for value in (cast.outputs[0], carried.entered, carried.last):
            value.type = ir.TensorType(after)
        loop.replace_input_with(place, cast.outputs[0])


def _stays(before: ir.DataType, after: ir.DataType) -> bool:
    """Return whether a loop carries what it began with, in place of what its body makes.

    torch writes True and False as integers. A float of Python becomes a tensor of float32.
    """
    if before is ir.DataType.BOOL:
        return True
    float_met_tensor = before is ir.DataType.DOUBLE and after is ir.DataType.FLOAT
    return _ORDER.index(before) > _ORDER.index(after) and not float_met_tensor


def _cast_at_end(body: ir.Graph, value: ir.Value, dtype: ir.DataType) -> ir.Value:
    cast = ir.node("Cast", [value], {"to": dtype})
    cast.outputs[0].name = f"{value.name}_carried"
    body.append(cast)
    cast.outputs[0].type = ir.TensorType(dtype)
    return cast.outputs[0]
