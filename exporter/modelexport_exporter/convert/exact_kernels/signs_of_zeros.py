"""Sums of negative zeros are 0 in torch, and -0 in onnxruntime.

It shows where the sign of a zero decides: the angle of (0, -0) is pi.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.consumers import shows_sign_of_zero
from modelexport_exporter.convert.exact_kernels.long_sums import reduce_in_stages
from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_WITH_KERNEL = {ir.DataType.FLOAT, ir.DataType.DOUBLE}
_EQUAL_OF_FLOATS = 11
"""Since which opset. An addition of 0 would do, but onnxruntime removes it."""


def sum_or_mean(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return 0 for a result of -0, where its sign shows."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    if x is None or dtype not in _WITH_KERNEL or write.opset < _EQUAL_OF_FLOATS:
        return None
    if not shows_sign_of_zero(node.outputs[0]):
        return None
    total = reduce_in_stages(node, sizes, write) or write.again(node, x)
    zero = write.constant(np.array(0, dtype.numpy()))
    return write.op("Where", write.op("Equal", total, zero), zero, total)
