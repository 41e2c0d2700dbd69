"""Layers that return NaN where torch does: recurrent ones, and pools of signals.

onnxruntime's recurrent kernels clip their activations, so that NaN becomes a number; its pools
compare, and NaN is neither larger nor smaller than anything. Pools of images stay as they are:
the check takes longer than the pool.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_FLOATS = {ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16}
_AXES_ARE_INPUTS = 13
"""Opset of Unsqueeze and ReduceSum."""
_REDUCTIONS_SINCE = 18
"""The same of ReduceMax."""
_SEQUENCE_LENGTHS, _INITIAL_STATE = 4, 5
"""Places of the inputs of RNN, GRU and LSTM."""
_SIGNAL = 1
"""Number of the dims over which the window of a signal extends."""
_DIRECTIONS = {"forward": (0,), "reverse": (1,), "bidirectional": (0, 1)}
"""Whether CumSum runs backwards, for each direction of a layer."""


def recurrent(node: ir.Node, sizes: Magnitudes, write: Writer) -> tuple[ir.Value, ...] | None:
    """Return NaN from the first step on that reads NaN, in all units: each one reads all of it."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    ways = _DIRECTIONS.get(node.attributes.get_string("direction", "forward"))
    batch_first = node.attributes.get_int("layout", 0)
    if x is None or dtype not in _FLOATS or ways is None or batch_first:
        return None
    if write.opset < _AXES_ARE_INPUTS:
        return None
    nan = write.constant(np.array(np.nan, dtype.numpy()))
    read = _read(x, _input(node, _SEQUENCE_LENGTHS), write)  # [seq, 1, batch, 1], 1 for NaN
    state = _input(node, _INITIAL_STATE)
    begun = None if state is None else _any_of_last(state, write)  # [directions, batch, 1]
    reached = _joined(
        [write.op("CumSum", read, write.number(0), reverse=way) for way in ways], write
    )
    ended = write.op("ReduceSum", read, write.numbers([0]), keepdims=0)
    layer = ir.Node(
        "", node.op_type, node.inputs, list(node.attributes.values()), num_outputs=len(node.outputs)
    )
    values = write.outputs(layer)
    if begun is not None:
        reached = write.op("Add", reached, begun)
        ended = write.op("Add", ended, begun)
    masks = [write.op("Cast", mask, to=ir.DataType.BOOL) for mask in (reached, ended, ended)]
    if _input(node, _SEQUENCE_LENGTHS) is not None:
        masks[0] = write.op("And", masks[0], _valid(x, _input(node, _SEQUENCE_LENGTHS), write))
    return tuple(
        write.op("Where", mask, nan, value) for mask, value in zip(masks, values, strict=False)
    )


def max_pool(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return NaN where the window holds NaN, if the pool is one of a signal."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    window = [size for size in node.attributes["kernel_shape"].as_ints() if size > 1]
    if x is None or dtype not in _FLOATS or len(window) > _SIGNAL or len(node.outputs) > 1:
        return None
    return _with_nan(node, x, dtype, write)


def global_max_pool(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return NaN where the channel holds NaN."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    return None if x is None or dtype not in _FLOATS else _with_nan(node, x, dtype, write)


def _with_nan(node: ir.Node, x: ir.Value, dtype: ir.DataType, write: Writer) -> ir.Value:
    """Write a pool of x, with NaN where the same pool finds a NaN."""
    flags = write.op("Cast", write.op("IsNaN", x), to=dtype)
    found = write.op("Cast", write.again(node, flags), to=ir.DataType.BOOL)
    nan = write.constant(np.array(np.nan, dtype.numpy()))
    return write.op("Where", found, nan, write.again(node, x))


def _input(node: ir.Node, place: int) -> ir.Value | None:
    return node.inputs[place] if place < len(node.inputs) else None


def _read(x: ir.Value, lengths: ir.Value | None, write: Writer) -> ir.Value:
    """Return whether each step of each row holds NaN, as [seq, 1, batch, 1] of int32."""
    found = write.op("Unsqueeze", _any_of_last(x, write), write.numbers([1]))
    if lengths is None:
        return found
    valid = write.op("Cast", _valid(x, lengths, write), to=ir.DataType.INT32)
    return write.op("Mul", found, valid)


def _any_of_last(x: ir.Value, write: Writer) -> ir.Value:
    """Return 1 where NaN is among the elements along the last dim, which stays as 1."""
    flags = write.op("Cast", write.op("IsNaN", x), to=ir.DataType.INT32)
    if write.opset >= _REDUCTIONS_SINCE:
        return write.op("ReduceMax", flags, write.numbers([2]), keepdims=1)
    return write.op("ReduceMax", flags, axes=[2], keepdims=1)


def _valid(x: ir.Value, lengths: ir.Value | None, write: Writer) -> ir.Value:
    """Return whether each step is one of its row, as [seq, 1, batch, 1]."""
    assert lengths is not None
    steps = write.op("Gather", write.op("Shape", x), write.number(0))
    every = write.op("Range", write.number(0), steps, write.number(1))
    column = write.op("Reshape", every, write.numbers([-1, 1, 1, 1]))
    row = write.op(
        "Reshape", write.op("Cast", lengths, to=ir.DataType.INT64), write.numbers([1, 1, -1, 1])
    )
    return write.op("Less", column, row)


def _joined(values: list[ir.Value], write: Writer) -> ir.Value:
    return values[0] if len(values) == 1 else write.op("Concat", *values, axis=1)
