"""Inverse transforms of float64, which onnxruntime divides by their length as float32."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_PAIR = 2
_AXIS_IS_INPUT = 20
"""Since which opset."""


def inverse_in_double(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Transform the conjugate forwards: its conjugate, divided by the length, is the inverse."""
    x = node.inputs[0]
    if x is None or x.shape is None or sizes.dtype(x) is not ir.DataType.DOUBLE:
        return None
    whole = not node.attributes.get_int("onesided", 0) and x.shape[-1] == _PAIR
    if not node.attributes.get_int("inverse", 0) or not whole:
        return None
    if write.opset < _AXIS_IS_INPUT:
        axis = write.number(node.attributes.get_int("axis", 1))
    else:
        given = node.inputs[2] if len(node.inputs) > _PAIR else None
        axis = given if given is not None else write.number(-2)
    signs = write.constant(np.array([1, -1], np.float64))
    turned = write.op("Mul", x, signs)
    forwards = write.again(node, turned, inverse=0)
    length = write.op("Gather", write.op("Shape", forwards), axis, axis=0)
    count = write.op("Cast", length, to=ir.DataType.DOUBLE)
    return write.op("Div", write.op("Mul", forwards, signs), count)
