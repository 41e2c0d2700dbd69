"""Floats, where a kernel of onnxruntime loses what torch computes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.consumers import is_magnified, is_returned
from modelexport_exporter.convert.exact_kernels.long_sums import Reduction, in_stages
from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_WITH_KERNEL = {ir.DataType.FLOAT, ir.DataType.DOUBLE}
_HALVES = {ir.DataType.FLOAT16, ir.DataType.BFLOAT16}
_HALF = 0.5
_CLIP_OF_INPUTS = 11
"""Since which opset the bounds of Clip are inputs."""


def log_sum_exp(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Subtract the maximum first: onnxruntime takes 0 for it where the first element is -inf.

    A long sum is one in stages.
    """
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    if x is None or dtype not in _WITH_KERNEL or write.opset < 10:  # noqa: PLR2004 (IsInf)
        return None
    zero = write.constant(np.array(0, dtype.numpy()))

    def highest(keepdims: int) -> ir.Value:
        largest = write.named(node, "ReduceMax", x, keepdims=keepdims)
        return write.op("Where", write.op("IsInf", largest), zero, largest)

    kept = highest(1)
    powers = write.op("Exp", write.op("Sub", x, kept))
    powers.shape, powers.type = x.shape, x.type
    keeps, axes = node.attributes.get_int("keepdims", 1), write.axes(node)
    total = None
    if axes is not None and x.shape is not None and x.shape:
        every = axes or range(len(x.shape))
        total = in_stages(Reduction("ReduceSum", every, keeps), powers, sizes, write)
    logarithm = write.op("Log", total or write.named(node, "ReduceSum", powers))
    shift = kept if keeps else highest(0)
    return write.op("Add", logarithm, shift)


def sigmoid(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Compute 1 / (1 + exp(-x)), where it matters: Sigmoid is 0 from -18 on, and 1 and more."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    if x is None or dtype not in _WITH_KERNEL:
        return None
    if not is_magnified(node.outputs[0]) and not is_returned(node.outputs[0]):
        return None
    one = write.constant(np.array(1, dtype.numpy()))
    return write.op("Div", one, write.op("Add", one, write.op("Exp", write.op("Neg", x))))


def tanh(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Keep the result within -1 and 1, where it matters: Tanh of float32 is up to 1.0000002."""
    x = node.inputs[0]
    if x is None or sizes.dtype(x) is not ir.DataType.FLOAT or write.opset < _CLIP_OF_INPUTS:
        return None
    if not is_magnified(node.outputs[0]):
        return None
    low, high = (write.constant(np.array(end, np.float32)) for end in (-1, 1))
    return write.op("Clip", write.op("Tanh", x), low, high)


def one_bound(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Take the maximum or minimum: Clip with one bound returns a number for an infinity."""
    x, low, high = [*node.inputs, None, None][:3]
    kinds = {*_WITH_KERNEL, ir.DataType.FLOAT16} if write.opset > _CLIP_OF_INPUTS else _WITH_KERNEL
    if x is None or sizes.dtype(x) not in kinds or write.opset < _CLIP_OF_INPUTS:
        return None
    if low is None and high is not None:
        return write.op("Min", x, high)
    return write.op("Max", x, low) if low is not None and high is None else None


def norm_of_one(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return the magnitude, where a reduced size may be 1, as torch does: a square overflows."""
    x, axes = node.inputs[0], write.axes(node)
    if x is None or x.shape is None or sizes.dtype(x) not in _WITH_KERNEL:
        return None
    if axes is None or len(axes) != 1 or not x.shape:
        return None
    dim = x.shape[axes[0]]
    if dim != 1 and str(dim) not in sizes.declared.may_be_one:
        return None
    magnitude = write.named(node, "ReduceSum", write.op("Abs", x))
    if dim == 1:
        return magnitude
    size = write.op("Gather", write.op("Shape", x), write.number(axes[0]), axis=0)
    is_one = write.op("Equal", size, write.number(1))
    return write.op("Where", is_one, magnitude, write.again(node, x))


def square_root(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Take the root where the exponent is 1/2, as torch does: of -inf it is NaN."""
    x, exponent = node.inputs
    tensor = None if exponent is None else ir.convenience.get_const_tensor(exponent)
    if x is None or sizes.dtype(x) not in _WITH_KERNEL or tensor is None or tensor.size != 1:
        return None
    if len(tensor.shape) or float(tensor.numpy()) != _HALF:
        return None
    return write.op("Sqrt", x)


def scatter_halves(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Scatter half precision as float32 where elements meet: kernels of halves do not reduce."""
    dtype = sizes.dtype(node.inputs[0])
    reduces = node.attributes.get_string("reduction", "none") != "none"
    if dtype not in _HALVES or not reduces:
        return None
    return write.op("Cast", write.in_dtype(node, ir.DataType.FLOAT, (0, 2)), to=dtype)
