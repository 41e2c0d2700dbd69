"""Matrix products with a factor in float64.

onnxruntime takes a factor beside a MatMul into an attribute, which has single precision: the
product is off by 1e-8. A Sum of one value between them, which copies it, keeps the two apart.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_FUSED_TOO = frozenset({"Mul", "Div", "Transpose", "Identity"})
"""What onnxruntime takes into the product beside a factor, or removes."""
_PLACES = {"Mul": (0, 1), "Div": (1,)}
"""Where the factor may be."""
_HALF = 0.5


def keep_factor(node: ir.Node, _: Magnitudes, write: Writer) -> ir.Value | None:
    """Copy what a factor is multiplied with after a MatMul, or the result before a MatMul."""
    place = place_of_factor(node)
    if place is None:
        return None
    inputs = [value for value in node.inputs if value is not None]
    follows = _follows_product(inputs[1 - place])
    precedes = _precedes_product(node.outputs[0])
    if not follows and not precedes:
        return None
    if follows:
        inputs[1 - place] = write.op("Sum", inputs[1 - place])
    scaled = write.op(node.op_type, *inputs)
    return write.op("Sum", scaled) if precedes else scaled


def place_of_factor(node: ir.Node) -> int | None:
    """Return which input is a float64 number that an attribute would round; None if none is."""
    for place in _PLACES.get(node.op_type, ()):
        value = node.inputs[place]
        tensor = None if value is None else ir.convenience.get_const_tensor(value)
        if tensor is not None and tensor.size == 1 and tensor.dtype is ir.DataType.DOUBLE:
            number = float(tensor.numpy().reshape(()))
            return None if _is_kept(number, node.op_type) else place
    return None


def _is_kept(number: float, operator: str) -> bool:
    """Return whether float32 holds the factor; of a divisor the attribute is the reciprocal."""
    if operator == "Div":
        return abs(math.frexp(number)[0]) == _HALF
    with np.errstate(over="ignore"):
        return float(np.float32(number)) == number


def _follows_product(value: ir.Value | None) -> bool:
    node = None if value is None else value.producer()
    while node is not None and node.op_type in _FUSED_TOO:
        place = _place_of_other(node)
        given = node.inputs[place]
        node = None if given is None else given.producer()
    return node is not None and node.op_type == "MatMul"


def _place_of_other(node: ir.Node) -> int:
    """Return which input is no number."""
    first = node.inputs[0]
    is_number = first is not None and ir.convenience.get_const_tensor(first) is not None
    return 1 if is_number and len(node.inputs) > 1 else 0


def _precedes_product(value: ir.Value) -> bool:
    for user in value.consumers():
        if user.op_type == "MatMul":
            return True
        if user.op_type in _FUSED_TOO and _precedes_product(user.outputs[0]):
            return True
    return False
