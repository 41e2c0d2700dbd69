"""Normalisations of float32 numbers: of many by sums in stages, of images around their mean.

The kernels of onnxruntime add one number after the other. Of a constant image of 512 x 512 the mean
is then so far off that its normalisation returns 0.06 in place of 0; of ordinary images the
variance is off by 3e-5 of itself.

That of images also multiplies before it subtracts the mean. Where the variance is small, both
products are large: of a constant image of 64 x 64 it returns 1e-3 in place of 0, of values of
100 +- 0.01 it is off by 4e-3. Of numbers around their mean, it is off by 1e-6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.long_sums import (
    LONG,
    SPATIAL,
    Reduction,
    in_stages,
    numbers,
)
from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_EPSILON = 1e-5
"""Default of both operators."""


def instance(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Normalise each channel of each image."""
    x, scale, bias = node.inputs
    if x is None or x.shape is None or scale is None or bias is None:
        return None
    rank = len(x.shape)
    standard = _standardised(node, range(SPATIAL, rank), sizes, write)
    if standard is None:
        return _around_mean(node, range(SPATIAL, rank), sizes, write)
    column = write.numbers([-1] + [1] * (rank - SPATIAL))
    scaled = write.op("Mul", standard, write.op("Reshape", scale, column))
    return write.op("Add", scaled, write.op("Reshape", bias, column))


def _around_mean(
    node: ir.Node, dims: Sequence[int], sizes: Magnitudes, write: Writer
) -> ir.Value | None:
    """Write the node again, of numbers whose mean is nearly 0: its result is the same."""
    x = node.inputs[0]
    if x is None or sizes.dtype(x) is not ir.DataType.FLOAT or _is_difference(x):
        return None
    mean_of = Reduction("ReduceMean", dims)
    mean = in_stages(mean_of, x, sizes, write) or write.reduce("ReduceMean", x, dims, 1)
    return write.again(node, write.op("Sub", x, mean))


def _is_difference(x: ir.Value) -> bool:
    """Return whether a value is the difference of something and its mean already."""
    producer = x.producer()
    if producer is None or producer.op_type != "Sub" or producer.inputs[1] is None:
        return False
    subtracted = producer.inputs[1].producer()
    return subtracted is not None and subtracted.op_type == "ReduceMean"


def layer(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Normalise the last dims."""
    x, scale = node.inputs[:2]
    bias = node.inputs[2] if len(node.inputs) > 2 else None  # noqa: PLR2004
    if x is None or x.shape is None or scale is None or len(node.outputs) > 1:
        return None
    rank = len(x.shape)
    first = node.attributes.get_int("axis", -1) % rank
    standard = _standardised(node, range(first, rank), sizes, write)
    if standard is None:
        return None
    scaled = write.op("Mul", standard, scale)
    return scaled if bias is None else write.op("Add", scaled, bias)


def _standardised(
    node: ir.Node, dims: Sequence[int], sizes: Magnitudes, write: Writer
) -> ir.Value | None:
    """Write mean 0 and variance 1 over these dims; return None where they are short."""
    x = node.inputs[0]
    if x is None or x.shape is None or numbers(x.shape, dims, sizes) <= LONG:
        return None
    mean_of = Reduction("ReduceMean", dims)
    mean = in_stages(mean_of, x, sizes, write)
    if mean is None:
        return None
    apart = write.op("Sub", x, mean)
    squares = write.op("Mul", apart, apart)
    squares.shape, squares.dtype = x.shape, ir.DataType.FLOAT
    variance = in_stages(mean_of, squares, sizes, write)
    if variance is None:
        return None
    epsilon = np.array(node.attributes.get_float("epsilon", _EPSILON), np.float32)
    root = write.op("Sqrt", write.op("Add", variance, write.constant(epsilon)))
    return write.op("Div", apart, root)
