"""Reductions of no elements, in torch's shapes and with torch's values.

onnxruntime returns the shape of the input for a negative axis, 0 for the mean of nothing, and 1 for
the maximum of no booleans, written as integers.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.declared import DATA_DEPENDENT
from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

REDUCTIONS = frozenset(
    {
        "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin",
    }
)  # fmt: skip
_MAX_OF_INTEGERS = 12
"""Since which opset."""
_FLOATS = {ir.DataType.FLOAT, ir.DataType.DOUBLE}


def count_axes_from_start(node: ir.Node, never_empty: Collection[str], write: Writer) -> bool:
    """Change the node's negative axes where its input may be empty; return whether it was."""
    shape = node.inputs[0].shape if node.inputs and node.inputs[0] is not None else None
    if shape is None or not any(_may_be_zero(dim, never_empty) for dim in shape):
        return False
    if "axis" in node.attributes:
        axis = node.attributes["axis"].as_int()
        node.attributes["axis"] = ir.AttrInt64("axis", axis % len(shape))
        return axis < 0
    axes = write.axes(node)
    if not axes or all(axis >= 0 for axis in axes):
        return False
    counted = [axis % len(shape) for axis in axes]
    if "axes" in node.attributes:
        node.attributes["axes"] = ir.AttrInt64s("axes", counted)
    else:
        node.replace_input_with(1, write.numbers(counted))
    return True


def _may_be_zero(dim: int | ir.SymbolicDim, never_empty: Collection[str]) -> bool:
    if isinstance(dim, int):
        return dim == 0
    return str(dim.value) not in never_empty


def mean(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Divide the sum by the count, where a reduced size may be 0: 0 / 0 is NaN."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    axes = write.axes(node)
    if dtype not in _FLOATS or x is None or axes is None or not _may_be_none(x, axes, sizes):
        return None
    shape = write.op("Shape", x)
    counted = write.op("Gather", shape, write.numbers(axes), axis=0) if axes else shape
    count = write.op("Cast", write.op("ReduceProd", counted, keepdims=0), to=dtype)
    return write.op("Div", write.named(node, "ReduceSum", x), count)


def any_of(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Take 0 as well, for the maximum of booleans that may be none: ReduceMax is 1 then."""
    x = node.inputs[0]
    cast = None if x is None else x.producer()
    axes = write.axes(node)
    if x is None or cast is None or cast.op_type != "Cast" or axes is None:
        return None
    if sizes.dtype(cast.inputs[0]) is not ir.DataType.BOOL or not _may_be_none(x, axes, sizes):
        return None
    dtype = sizes.dtype(x)
    if dtype is None or write.opset < _MAX_OF_INTEGERS:
        return None
    return write.op("Max", write.again(node, x), write.constant(np.array(0, dtype.numpy())))


def _may_be_none(x: ir.Value, axes: Collection[int], sizes: Magnitudes) -> bool:
    """Return whether a reduction over these axes may find no element; none: over all."""
    if x.shape is None or not x.shape:
        return False
    names = [str(x.shape[axis]) for axis in axes] if axes else [str(dim) for dim in x.shape]
    return any(name in sizes.declared.may_be_empty or DATA_DEPENDENT.search(name) for name in names)
