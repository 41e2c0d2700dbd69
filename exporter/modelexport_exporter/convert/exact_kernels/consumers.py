"""Whether an operator further on magnifies the error of a result: a digit lost at 0, or beyond 1.

A probability of 1e-13 that became 0 is as good as right in a sum, and wrong in a logarithm, a root,
a denominator, a rank and a comparison. A tanh of 1.0000002 has no arccosine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import onnx_ir as ir

_MAGNIFYING = frozenset(
    {
        "Log", "Sqrt", "Reciprocal", "Mod", "Sign", "Floor", "Ceil", "Asin", "Acos", "Atanh",
        "Acosh", "TopK", "ArgMax", "ArgMin", "NonZero", "Unique", "LpNormalization", "ReduceLogSum",
    }
)  # fmt: skip
_COMPARING = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
_INNER = 1e-6
"""A comparison with a constant is not magnifying that far from 0 and 1."""
_PASSING = frozenset(
    {
        "Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Transpose", "Expand", "Tile",
        "Gather", "GatherElements", "GatherND", "Slice", "Split", "Concat", "Pad", "Where", "Clip",
        "Max", "Min", "Mul", "Add", "Sub", "Neg", "Abs", "Div", "Pow", "Sum", "Mean", "CumSum",
        "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ScatterElements", "ScatterND",
    }
)  # fmt: skip
"""What the error passes through unchanged. Layers with weights end the search: theirs is larger."""
_MULTIPLYING = frozenset({"MatMul", "Einsum"})
"""They pass it on where no operand is a weight: a product of probabilities may be as small."""


_MOVING = frozenset(
    {
        "Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Transpose", "Expand", "Tile",
        "Gather", "GatherElements", "GatherND", "Slice", "Split", "Concat", "Pad", "Where",
    }
)  # fmt: skip
"""What keeps the numbers as they are."""
_KEEPING_SIGN = _MOVING | {"Mul", "Div", "Neg", "Sqrt"}
"""What makes zeros of zeros, with a sign that depends on theirs."""


_OfUse = Callable[[ir.Node, int], bool]
"""Of a node, and of the place of a value among its inputs."""


def is_returned(value: ir.Value) -> bool:
    """Return whether the graph returns a value, moved or scaled: nobody knows what follows."""
    waiting, met = [value], {value}
    while waiting:
        current = waiting.pop()
        if current.is_graph_output():
            return True
        for user, place in current.uses():
            scaled = user.op_type == "Mul" and _number(user.inputs[1 - place]) is not None
            if not user.domain and (user.op_type in _MOVING or scaled):
                further = [output for output in user.outputs if output not in met]
                met.update(further)
                waiting.extend(further)
    return False


def is_magnified(value: ir.Value) -> bool:
    """Return whether an operator magnifies the error of a value, or of what is computed of it."""
    return _meets(value, _magnifies, _passes_error)


def shows_sign_of_zero(value: ir.Value) -> bool:
    """Return whether a number is divided by a value that may be -0, or by what is computed of it.

    So are the signs of zeros found: 1 / -0 is -inf.
    """
    return _meets(value, _divides_number, _keeps_sign)


def _meets(value: ir.Value, sought: _OfUse, passes: _OfUse) -> bool:
    """Return whether a node is met that is sought, on paths of nodes that pass."""
    waiting, met = [value], {value}
    while waiting:
        current = waiting.pop()
        for user, place in current.uses():
            if sought(user, place):
                return True
            if passes(user, place):
                further = [output for output in user.outputs if output not in met]
                met.update(further)
                waiting.extend(further)
    return False


def _passes_error(node: ir.Node, place: int) -> bool:
    if not node.domain and node.op_type in _MULTIPLYING:
        others = (own for other, own in enumerate(node.inputs) if other != place)
        return not any(map(_is_weight, others))
    return _is_among(node, _PASSING)


def _keeps_sign(node: ir.Node, _place: int) -> bool:
    return _is_among(node, _KEEPING_SIGN)


def _is_among(node: ir.Node, operators: Collection[str]) -> bool:
    return not node.domain and (node.op_type in operators or _casts_to_float(node))


def _is_weight(value: ir.Value | None) -> bool:
    return value is not None and ir.convenience.get_const_tensor(value) is not None


def _divides_number(node: ir.Node, place: int) -> bool:
    if node.domain:
        return False
    if node.op_type == "Reciprocal":
        return True
    return node.op_type == "Div" and place == 1 and _number(node.inputs[0]) is not None


def _magnifies(node: ir.Node, place: int) -> bool:
    if node.domain:
        return False
    match node.op_type:
        case "Div":
            return place == 1
        case "Pow":
            return place == 1 or not _is_whole(node.inputs[1])
        case "Cast":
            return not _casts_to_float(node)
    if node.op_type in _COMPARING:
        return not _is_inner(node.inputs[1 - place])
    return node.op_type in _MAGNIFYING


def _casts_to_float(node: ir.Node) -> bool:
    to = node.attributes.get("to") if node.op_type == "Cast" else None
    return to is not None and ir.DataType(to.as_int()).is_floating_point()


def _is_whole(exponent: ir.Value | None) -> bool:
    """Return whether an exponent is a constant of 1, 2, 3..."""
    number = _number(exponent)
    return number is not None and number >= 1 and number.is_integer()


def _is_inner(compared: ir.Value | None) -> bool:
    number = _number(compared)
    return number is not None and min(abs(number), abs(abs(number) - 1)) > _INNER


def _number(value: ir.Value | None) -> float | None:
    """Return the number of a constant that has one element."""
    tensor = None if value is None else ir.convenience.get_const_tensor(value)
    if tensor is None or tensor.size != 1:
        return None
    return float(tensor.numpy().reshape(()))
