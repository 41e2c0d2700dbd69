"""Extremes and ranks of floats among which there may be NaN, which torch has above infinity.

onnxruntime compares, and NaN is neither larger nor smaller than anything.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_FLOATS = {ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16}
_SCATTERED = {ir.DataType.FLOAT, ir.DataType.DOUBLE}
_RANKS_SINCE = 12
"""Since which opset Min of onnxruntime returns NaN, and TopK has `largest`."""
_BYTES_SINCE = 12
"""Opset of ReduceMax."""


def reduce_extreme(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return NaN where one of the elements is NaN."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    if x is None or dtype not in _FLOATS or _is_never_nan(x):
        return None
    flags = write.op("Cast", write.op("IsNaN", x), to=_flag(write))
    found = write.op("Cast", write.named(node, "ReduceMax", flags), to=ir.DataType.BOOL)
    nan = write.constant(np.array(np.nan, dtype.numpy()))
    return write.op("Where", found, nan, write.again(node, x))


def place_of_extreme(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return the place of the first NaN, if there is one."""
    x = node.inputs[0]
    if x is None or sizes.dtype(x) not in _FLOATS or _is_never_nan(x):
        return None
    if node.attributes.get_int("select_last_index", 0):
        return None
    axis, kept = node.attributes.get_int("axis", 0), node.attributes.get_int("keepdims", 1)
    isnan = write.op("IsNaN", x)
    flags = write.op("Cast", isnan, to=_flag(write))
    found = write.op("Cast", write.reduce("ReduceMax", flags, axis, kept), to=ir.DataType.BOOL)
    numbers = write.op("Cast", isnan, to=ir.DataType.INT32)
    first = write.op("ArgMax", numbers, axis=axis, keepdims=kept)
    return write.op("Where", found, first, write.again(node, x))


def rank(node: ir.Node, sizes: Magnitudes, write: Writer) -> tuple[ir.Value, ...] | None:
    """Rank NaN as infinity, and infinity as the largest number; return what is so ranked."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    if x is None or dtype not in _FLOATS or write.opset < _RANKS_SINCE or _is_never_nan(x):
        return None
    infinity, largest = (
        write.constant(np.array(number, dtype.numpy()))
        for number in (np.inf, np.finfo(dtype.numpy()).max)
    )
    keys = write.op("Where", write.op("IsNaN", x), infinity, write.op("Min", x, largest))
    values, places = write.outputs(
        ir.Node("", "TopK", [keys, *node.inputs[1:]], list(node.attributes.values()), num_outputs=2)
    )
    if not _values_are_used(node):
        return values, places
    axis = node.attributes.get_int("axis", -1)
    return write.op("GatherElements", x, places, axis=axis), places


def scatter_extreme(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return NaN where one of the elements that meet at a place is NaN."""
    data, indices, updates = node.inputs
    dtype = sizes.dtype(data)
    how = node.attributes.get_string("reduction", "none")
    if data is None or updates is None or dtype not in _SCATTERED or how not in {"max", "min"}:
        return None
    axis = node.attributes.get_int("axis", 0)
    flags = [write.op("Cast", write.op("IsNaN", one), to=dtype) for one in (data, updates)]
    assert indices is not None
    met = write.op("ScatterElements", flags[0], indices, flags[1], axis=axis, reduction="max")
    found = write.op("Cast", met, to=ir.DataType.BOOL)
    nan = write.constant(np.array(np.nan, dtype.numpy()))
    return write.op("Where", found, nan, write.again(node, data))


def _values_are_used(node: ir.Node) -> bool:
    """Return whether something reads the first output of a node."""
    return bool(node.outputs[0].uses()) or node.outputs[0].is_graph_output()


def _flag(write: Writer) -> ir.DataType:
    return ir.DataType.UINT8 if write.opset >= _BYTES_SINCE else ir.DataType.INT32


def _is_never_nan(x: ir.Value) -> bool:
    """Return whether these are integers or booleans that were cast."""
    producer = x.producer()
    source = producer.inputs[0] if producer is not None and producer.op_type == "Cast" else None
    return source is not None and source.dtype is not None and not source.dtype.is_floating_point()
