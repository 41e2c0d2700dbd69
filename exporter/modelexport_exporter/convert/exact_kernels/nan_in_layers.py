"""Layers that return NaN where torch does: recurrent ones, and pools of signals.

onnxruntime's recurrent kernels clip their activations, so that NaN becomes a number; its pools
compare, and NaN is neither larger nor smaller than anything. The check takes longer than a pool of
images (a network of small convolutions takes 1.9 times as long): those are rewritten only where the
model looks for NaN itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_FLOATS = {ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16}
_AXES_ARE_INPUTS = 13
"""Opset of Unsqueeze and ReduceSum."""
_SEQUENCE_LENGTHS, _INITIAL_STATE = 4, 5
"""Places of the inputs of RNN, GRU and LSTM."""
_EQUAL_OF_FLOATS = 11
"""Since which opset."""
_SIGNAL = 1
"""Number of the dims over which the window of a signal extends."""
_DIRECTIONS = {"forward": (0,), "reverse": (1,), "bidirectional": (0, 1)}
"""Whether CumSum runs backwards, for each direction of a layer."""


@dataclass(frozen=True)
class Recurrence:
    """The parts of a recurrent node that decide where NaN goes."""

    x: ir.Value
    """Of shape [seq, batch, features]."""
    dtype: ir.DataType
    ways: tuple[int, ...]
    """0 forward, 1 backward, for each direction."""
    lengths: ir.Value | None
    valid: ir.Value | None
    """Whether each step is one of its row, as [seq, 1, batch, 1]; None: all are."""
    state: ir.Value | None


def recurrence(node: ir.Node, sizes: Magnitudes, write: Writer) -> Recurrence | None:
    """Return the parts of a recurrent node; None if it is not written as torch.onnx does."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    ways = _DIRECTIONS.get(node.attributes.get_string("direction", "forward"))
    batch_first = node.attributes.get_int("layout", 0)
    if x is None or dtype not in _FLOATS or ways is None or batch_first:
        return None
    if write.opset < _AXES_ARE_INPUTS:
        return None
    lengths = _input(node, _SEQUENCE_LENGTHS)
    valid = None if lengths is None else _valid(x, lengths, write)
    return Recurrence(x, dtype, ways, lengths, valid, _input(node, _INITIAL_STATE))


def run_layer(node: ir.Node, write: Writer) -> Sequence[ir.Value]:
    """Write the layer as it is."""
    attributes = list(node.attributes.values())
    layer = ir.Node("", node.op_type, node.inputs, attributes, num_outputs=len(node.outputs))
    return write.outputs(layer)


def recurrent(node: ir.Node, sizes: Magnitudes, write: Writer) -> tuple[ir.Value, ...] | None:
    """Return NaN from the first step on that reads NaN, in all units: each one reads all of it."""
    found = recurrence(node, sizes, write)
    if found is None:
        return None
    values = run_layer(node, write)
    flags = write.op("Unsqueeze", _any_of_last(found.x, write), write.numbers([1]))
    read = within_rows(found, flags, write)  # [seq, 1, batch, 1]
    reached = [write.op("CumSum", read, write.number(0), reverse=way) for way in found.ways]
    along = reached[0] if len(reached) == 1 else write.op("Concat", *reached, axis=1)
    after = write.op("ReduceSum", read, write.numbers([0]), keepdims=0)
    return results_with_nan(found, values, [along, after, after], write)


def results_with_nan(
    found: Recurrence, values: Sequence[ir.Value], counts: Sequence[ir.Value], write: Writer
) -> tuple[ir.Value, ...]:
    """Return the layer's results, NaN where a count of NaN is not 0, or the state began with it."""
    if found.state is not None:
        begun = _any_of_last(found.state, write)  # [directions, batch, 1]
        added = {count: write.op("Add", count, begun) for count in dict.fromkeys(counts)}
        counts = [added[count] for count in counts]
    masks = [write.op("Cast", count, to=ir.DataType.BOOL) for count in counts]
    if found.valid is not None:
        masks[0] = write.op("And", masks[0], found.valid)
    nan = write.constant(np.array(np.nan, found.dtype.numpy()))
    return tuple(
        write.op("Where", mask, nan, value) for mask, value in zip(masks, values, strict=False)
    )


def max_pool(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return NaN where the window holds NaN, if the pool is one of a signal."""
    window = [size for size in node.attributes["kernel_shape"].as_ints() if size > 1]
    return None if len(window) > _SIGNAL else max_pool_of_images(node, sizes, write)


def max_pool_of_images(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return NaN where the window holds NaN."""
    x = node.inputs[0]
    dtype = sizes.dtype(x)
    if x is None or dtype not in _FLOATS or len(node.outputs) > 1:
        return None
    return _with_nan(node, x, dtype, write)


def max_pool_of_infinity(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return -inf of padded windows that hold nothing else, as of masked inputs."""
    x, pads = node.inputs[0], node.attributes.get("pads")
    dtype = sizes.dtype(x)
    if x is None or dtype not in _FLOATS or len(node.outputs) > 1:
        return None
    return _with_infinity(node, x, dtype, write) if pads and any(pads.as_ints()) else None


def _with_infinity(node: ir.Node, x: ir.Value, dtype: ir.DataType, write: Writer) -> ir.Value:
    """Write a pool of x. Of -inf alone, or with padding, onnxruntime returns the lowest number."""
    pooled = write.again(node, x)
    if dtype is ir.DataType.FLOAT16 or write.opset < _EQUAL_OF_FLOATS:
        return pooled
    infinity, lowest = (
        write.constant(np.array(number, dtype.numpy())) for number in (-np.inf, dtype.min)
    )
    return write.op("Where", write.op("Equal", pooled, lowest), infinity, pooled)


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
    pooled = _with_infinity(node, x, dtype, write)
    return write.op("Where", found, nan, pooled)


def _input(node: ir.Node, place: int) -> ir.Value | None:
    return node.inputs[place] if place < len(node.inputs) else None


def within_rows(found: Recurrence, flags: ir.Value, write: Writer) -> ir.Value:
    """Return flags of steps, of int32, with 0 beyond the end of each row."""
    if found.valid is None:
        return flags
    return write.op("Mul", flags, write.op("Cast", found.valid, to=ir.DataType.INT32))


def _any_of_last(x: ir.Value, write: Writer) -> ir.Value:
    """Return 1 where NaN is among the elements along the last dim, which stays as 1."""
    flags = write.op("Cast", write.op("IsNaN", x), to=ir.DataType.INT32)
    return write.reduce("ReduceMax", flags, 2, 1)


def _valid(x: ir.Value, lengths: ir.Value, write: Writer) -> ir.Value:
    """Return whether each step is one of its row, as [seq, 1, batch, 1]."""
    return write.op("Less", *steps_of_each_row(x, lengths, write))


def steps_of_each_row(
    x: ir.Value, lengths: ir.Value | None, write: Writer
) -> tuple[ir.Value, ir.Value]:
    """Return the numbers of the steps, [seq, 1, 1, 1], and how many each row has.

    The latter is [1, 1, batch, 1], or one number where all rows have all steps.
    """
    steps = write.op("Gather", write.op("Shape", x), write.number(0))
    every = write.op("Range", write.number(0), steps, write.number(1))
    column = write.op("Reshape", every, write.numbers([-1, 1, 1, 1]))
    if lengths is None:
        return column, steps
    counts = write.op("Cast", lengths, to=ir.DataType.INT64)
    return column, write.op("Reshape", counts, write.numbers([1, 1, -1, 1]))
