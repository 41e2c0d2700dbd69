"""Reductions of no elements, in torch's shapes and with torch's values.

onnxruntime returns the shape of the input for a negative axis, and 0 for the mean of nothing.
"""

from __future__ import annotations

from collections.abc import Collection

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
    if x is None or x.shape is None or dtype not in _FLOATS:
        return None
    axes = write.axes(node)
    if axes is None or not x.shape:
        return None
    reduced = [x.shape[axis] for axis in axes] if axes else list(x.shape)
    names = [str(dim) for dim in reduced]
    if not any(
        name in sizes.declared.may_be_empty or DATA_DEPENDENT.search(name) for name in names
    ):
        return None
    shape = write.op("Shape", x)
    counted = write.op("Gather", shape, write.numbers(axes), axis=0) if axes else shape
    count = write.op("Cast", write.op("ReduceProd", counted, keepdims=0), to=dtype)
    return write.op("Div", write.named(node, "ReduceSum", x), count)
