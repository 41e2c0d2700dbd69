"""Integers, computed by kernels of onnxruntime that are exact at every magnitude.

ReduceSum, ReduceProd, Pow and Mod with fmod=1 go through double and saturate, where torch wraps.
Max, Min, Clip, ReduceMax and ReduceMin of int64 compare the halves of a number as signed ones, and
Sign reads the lower half. Add, Mul, Div, Mod, comparisons, Where and ScatterElements are exact.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import ELEMENTS, Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_HALF = 2**32
_DOUBLE, _INT = 2**53, 2**31
_MOST_FACTORS = 64
"""Larger exponents of integers are left to onnxruntime."""
_EXPONENT_BITS = 16
"""Exponents that are no constants are exact below 2 to the power of these."""


def reduce_sum(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Sum the upper and the lower halves: sums of 2²¹ of them are exact in double."""
    x = node.inputs[0]
    assert x is not None
    if sizes.dtype(x) is ir.DataType.INT32 and sizes.of(x) * ELEMENTS >= _INT:
        total = write.again(node, write.op("Cast", x, to=ir.DataType.INT64))
        return write.op("Cast", total, to=ir.DataType.INT32)
    if sizes.dtype(x) is not ir.DataType.INT64 or sizes.of(x) * ELEMENTS <= _DOUBLE:
        return None
    high, low = _halves(x, write)
    return _joined(write.again(node, high), write.again(node, low), write)


def _halves(x: ir.Value, write: Writer) -> tuple[ir.Value, ir.Value]:
    """Return integers so that x is the first times 2³² plus the second, in [0, 2³²)."""
    low = write.op("Mod", x, write.number(_HALF))
    return write.op("Div", write.op("Sub", x, low), write.number(_HALF)), low


def _joined(high: ir.Value, low: ir.Value, write: Writer) -> ir.Value:
    return write.op("Add", write.op("Mul", high, write.number(_HALF)), low)


def reduce_extreme(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Reduce the upper halves, then the lower ones where the upper one is the result."""
    x = node.inputs[0]
    assert x is not None
    if sizes.dtype(x) is not ir.DataType.INT64 or sizes.of(x) < _INT:
        return None
    high, low = _halves(x, write)
    shifted = write.op("Sub", low, write.number(_INT))
    best = write.again(node, high, keepdims=1)
    worst = -_INT if node.op_type == "ReduceMax" else _INT - 1
    equal = write.op("Equal", high, best)
    candidates = write.op("Where", equal, shifted, write.number(worst))
    lower = write.op("Add", write.again(node, candidates), write.number(_INT))
    kept = node.attributes.get_int("keepdims", 1)
    return _joined(best if kept else write.again(node, high), lower, write)


def extreme(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Compare, and choose."""
    values = [value for value in node.inputs if value is not None]
    if _is_small(sizes, values):
        return None
    result = values[0]
    for value in values[1:]:
        first, second = (result, value) if node.op_type == "Max" else (value, result)
        result = write.op("Where", write.op("Less", first, second), value, result)
    return result


def clip(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Compare with each bound, and choose."""
    x, low, high = [*node.inputs, None, None][:3]
    if x is None or (low is None and high is None):
        return None
    if _is_small(sizes, [value for value in (x, low, high) if value is not None]):
        return None
    if low is not None:
        x = write.op("Where", write.op("Less", x, low), low, x)
    if high is not None:
        x = write.op("Where", write.op("Less", high, x), high, x)
    return x


def _is_small(sizes: Magnitudes, values: list[ir.Value]) -> bool:
    """Return whether the halves of these cannot be misread."""
    if any(sizes.dtype(value) is not ir.DataType.INT64 for value in values):
        return True
    return all(sizes.of(value) < _INT for value in values)


def sign(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Compare with 0."""
    x = node.inputs[0]
    assert x is not None
    if _is_small(sizes, [x]):
        return None
    zero = write.number(0)
    above, below = write.op("Less", zero, x), write.op("Less", x, zero)
    as_int = {"to": ir.DataType.INT64}
    return write.op("Sub", write.op("Cast", above, **as_int), write.op("Cast", below, **as_int))


def modulo(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Subtract the multiple of the divisor: Div rounds towards zero."""
    x, y = node.inputs
    assert x is not None
    assert y is not None
    if not node.attributes.get_int("fmod", 0) or sizes.dtype(x) is not ir.DataType.INT64:
        return None
    if max(sizes.of(x), sizes.of(y)) <= _DOUBLE:
        return None
    return write.op("Sub", x, write.op("Mul", write.op("Div", x, y), y))


def reduce_prod(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Multiply all elements of a row into one by ScatterElements, which wraps as torch does."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    if x is None or dtype not in {ir.DataType.INT64, ir.DataType.INT32} or _counts_sizes(x, sizes):
        return None
    axes = write.axes(node)
    kept = node.attributes.get_int("keepdims", 1)
    if axes is None or len(axes) > 1 or write.opset < 16 or (not axes and kept):  # noqa: PLR2004
        return None
    axis = axes[0] if axes else 0
    if not axes:
        x = write.op("Reshape", x, write.numbers([-1]))
    shape = write.op("Shape", x)
    one = write.number(1)
    reduced = write.op("ScatterElements", shape, write.numbers([axis]), write.numbers([1]), axis=0)
    ones = write.op("Expand", write.op("Cast", one, to=dtype), reduced)
    zeros = write.op("Expand", write.number(0), shape)
    product = write.op("ScatterElements", ones, zeros, x, axis=axis, reduction="mul")
    if not axes:
        return write.op("Reshape", product, write.numbers([]))
    return product if kept else write.op("Squeeze", product, write.numbers([axis]))


def _counts_sizes(x: ir.Value, sizes: Magnitudes) -> bool:
    """Return whether the factors are a few sizes: their product is a number of elements."""
    static = x.shape is not None and x.shape.is_static()
    count = math.prod(x.shape.numpy()) if x.shape is not None and static else ELEMENTS
    bound = sizes.of(x)
    if bound <= 1:
        return True
    return _is_of_sizes(x) or count * math.log2(bound) <= 31  # noqa: PLR2004


def _is_of_sizes(x: ir.Value | None) -> bool:
    """Return whether the value is taken from the shape of a tensor."""
    while x is not None and (node := x.producer()) is not None:
        if node.op_type == "Shape":
            return True
        if node.op_type not in {"Slice", "Gather", "Identity", "Concat", "Unsqueeze", "Cast"}:
            return False
        x = node.inputs[0]
    return False


def power(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Multiply: repeatedly, or by the bits of an exponent that is no constant."""
    x, exponent = node.inputs
    dtype = sizes.dtype(x)
    if x is None or exponent is None or dtype not in {ir.DataType.INT64, ir.DataType.INT32}:
        return None
    tensor = ir.convenience.get_const_tensor(exponent)
    if tensor is None or tensor.size != 1:
        same = sizes.dtype(exponent) is dtype
        return _power_by_bits(x, exponent, dtype, write) if same else None
    number = float(tensor.numpy().reshape(()))
    limit = _DOUBLE if dtype is ir.DataType.INT64 else _INT - 1
    if not number.is_integer() or not 0 < number <= _MOST_FACTORS:
        return None
    if sizes.of(x) ** int(number) <= limit:
        return None
    return _shaped(_product(x, int(number), write), tensor, write)


def _shaped(result: ir.Value, exponent: ir.TensorProtocol, write: Writer) -> ir.Value:
    """Give the result the dims that the exponent's shape adds to a scalar."""
    rank = len(exponent.shape)
    return result if not rank else write.op("Expand", result, write.numbers([1] * rank))


def _product(x: ir.Value, number: int, write: Writer) -> ir.Value:
    """Return x to the power of a number above 0, by squares."""
    result: ir.Value | None = None
    while True:
        if number & 1:
            result = x if result is None else write.op("Mul", result, x)
        number >>= 1
        if not number:
            assert result is not None
            # A node of its own: the result may not be the node's input itself.
            return write.op("Identity", result) if result is x else result
        x = write.op("Mul", x, x)


def _power_by_bits(x: ir.Value, exponent: ir.Value, dtype: ir.DataType, write: Writer) -> ir.Value:
    def number(value: int) -> ir.Value:
        return write.constant(np.array(value, dtype.numpy()))

    one, two, zero = number(1), number(2), number(0)
    negative = write.op("Less", exponent, zero)
    rest = write.op("Where", negative, zero, exponent)
    # 1 and -1 are the only bases with an inverse; it is the base itself.
    odd = write.op("Equal", write.op("Mod", exponent, two), one)
    inverse = write.op("Where", odd, x, write.op("Abs", x))
    inverse = write.op("Where", write.op("Equal", write.op("Abs", x), one), inverse, zero)
    result, square = one, x
    for _ in range(_EXPONENT_BITS):
        bit = write.op("Equal", write.op("Mod", rest, two), one)
        result = write.op("Mul", result, write.op("Where", bit, square, one))
        rest = write.op("Div", rest, two)
        square = write.op("Mul", square, square)
    return write.op("Where", negative, inverse, result)
