"""Sums of many float32 numbers, in stages.

onnxruntime adds them one after the other: of a constant, the mean is off by 1.5e-6 of itself for
16,000 elements, by 6e-4 for 480,000 and by 2.6e-3 for an image of 1024 x 1024. torch adds in a
tree, and running sums in float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer
from modelexport_exporter.verification.numerics.long_sums import LONGEST

FURTHER_STAGES = {
    "ReduceMean": "ReduceMean",
    "ReduceSum": "ReduceSum",
    "ReduceL1": "ReduceSum",
    "ReduceL2": "ReduceL2",
    "ReduceSumSquare": "ReduceSum",
}
"""By what the results of a reduction over one dim are reduced over the next one."""
_SEVERAL_DIMS, _RUNNING = 4096, 256
"""Numbers from which on sums over several dims, and running sums, are off by more than 1e-6."""
LONG = LONGEST
"""The same for one dim, of whose parts the model's noise allows no more. Stages over several dims
cost nothing; parts of one dim cost a copy of it."""
_PART = 512
"""Length of the parts of a dim."""
_MAY_BE_EMPTY = 14
"""Since which opset a dim of Reshape can be 0."""
SPATIAL = 2
"""The first dim of an image after batch and channel."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a node reduces."""

    operator: str
    axes: Sequence[int]
    kept: int = 1
    """1 if the reduced dims stay, as 1."""


def reduce_in_stages(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Reduce one dim after the other, a long one in parts."""
    x = node.inputs[0]
    axes = write.axes(node)
    if x is None or x.shape is None or axes is None or not x.shape:
        return None
    axes = axes or list(range(len(x.shape)))
    kept = node.attributes.get_int("keepdims", 1)
    return in_stages(Reduction(node.op_type, axes, kept), x, sizes, write)


def average_of_images(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Average one dim after the other."""
    x = node.inputs[0]
    if x is None or x.shape is None:
        return None
    return in_stages(Reduction("ReduceMean", range(SPATIAL, len(x.shape))), x, sizes, write)


def running_sum(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Add in float64, as torch does."""
    x = node.inputs[0]
    if x is None or sizes.dtype(x) is not ir.DataType.FLOAT:
        return None
    if x.shape is not None and _longest(x.shape, sizes) < _RUNNING:
        return None
    wide = write.again(node, write.op("Cast", x, to=ir.DataType.DOUBLE))
    return write.op("Cast", wide, to=ir.DataType.FLOAT)


def _longest(shape: ir.Shape, sizes: Magnitudes) -> int:
    return max((sizes.declared.longest(dim) for dim in shape), default=0)


def in_stages(
    reduction: Reduction, x: ir.Value, sizes: Magnitudes, write: Writer
) -> ir.Value | None:
    """Write a reduction in stages; return None where it is short enough as it is."""
    if sizes.dtype(x) is not ir.DataType.FLOAT or x.shape is None:
        return None
    rank = len(x.shape)
    operator, kept = reduction.operator, reduction.kept
    counted = sorted({axis % rank for axis in reduction.axes}, reverse=True)
    parted = {axis for axis in counted if sizes.declared.longest(x.shape[axis]) > LONG}
    several = len(counted) > 1 and numbers(x.shape, counted, sizes) > _SEVERAL_DIMS
    if not parted and not several:
        return None
    result = x
    for axis in counted:
        if axis in parted:
            result = _in_parts(Reduction(operator, [axis], kept), result, rank, write)
        else:
            result = write.reduce(operator, result, axis, kept)
        rank -= 0 if kept else 1
        operator = FURTHER_STAGES[operator]
    return result


def numbers(shape: ir.Shape, axes: Sequence[int], sizes: Magnitudes) -> int:
    """Return how many numbers there may be in these dims."""
    return math.prod(sizes.declared.longest(shape[axis]) for axis in axes)


def _in_parts(reduction: Reduction, x: ir.Value, rank: int, write: Writer) -> ir.Value:
    """Reduce parts of one dim, which zeros fill up, then their results."""
    operator, axis = reduction.operator, reduction.axes[0]
    shape = write.op("Shape", x)
    size = _sizes(shape, axis, axis + 1, write)
    part = write.numbers([_PART])
    missing = write.op("Mod", write.op("Neg", size), part)
    pads = [write.numbers([0] * (rank + axis)), missing, write.numbers([0] * (rank - axis - 1))]
    padded = write.op("Pad", x, write.op("Concat", *pads, axis=0))
    parts = write.op("Div", write.op("Add", size, missing), part)
    before, after = _sizes(shape, 0, axis, write), _sizes(shape, axis + 1, rank, write)
    target = write.op("Concat", before, parts, part, after, axis=0)
    with_zeros = {"allowzero": 1} if write.opset >= _MAY_BE_EMPTY else {}
    split = write.op("Reshape", padded, target, **with_zeros)
    first = "ReduceSum" if operator == "ReduceMean" else operator
    sums = write.reduce(first, split, axis + 1, 0)
    total = write.reduce(FURTHER_STAGES[first], sums, axis, reduction.kept)
    if operator != "ReduceMean":
        return total
    if rank == 1 and not reduction.kept:
        size = write.op("Squeeze", size)  # the mean of all is no list of one number
    return write.op("Div", total, write.op("Cast", size, to=ir.DataType.FLOAT))


def _sizes(shape: ir.Value, start: int, end: int, write: Writer) -> ir.Value:
    return write.op("Slice", shape, write.numbers([start]), write.numbers([end]))
