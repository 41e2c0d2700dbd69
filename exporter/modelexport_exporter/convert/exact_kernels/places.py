"""Places of GridSample that are no pixel: far outside of the image, infinite, or NaN.

onnxruntime 1.31 converts a place to an integer, which is any pixel from 2^63 on. torch 2.15,
measured on the CPU for each mode, padding and number of dims, answers what `Treatment` describes.
"""

from __future__ import annotations

import enum

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_WITH_KERNEL = {ir.DataType.FLOAT, ir.DataType.DOUBLE}
_FAR = 1e3
"""Of normalized places: well outside of any image, and of fewer pixels than float32 counts."""
_IMAGE = 4
"""Dims of a batch of images; of volumes 5."""
_CUBIC = {"cubic", "bicubic"}


class Treatment(enum.Enum):
    """What torch returns at a place of which a coordinate is infinite or NaN."""

    NAN = enum.auto()
    FAR = enum.auto()
    """What it returns far outside: 0, or the nearest pixel."""
    FAR_BUT_NAN = enum.auto()
    """So at infinities; NaN as onnxruntime."""
    LAST = enum.auto()
    """The last pixel."""
    SAME = enum.auto()
    """What onnxruntime returns."""


def treatment(mode: str, padding: str, rank: int) -> Treatment:
    """Return what torch returns at places that are not finite."""
    image = rank == _IMAGE
    if mode in _CUBIC or (image and mode != "nearest" and padding == "zeros"):
        return Treatment.NAN
    if padding == "reflection":
        return Treatment.SAME if image else Treatment.LAST
    if padding == "border" and image:
        return Treatment.FAR_BUT_NAN
    return Treatment.FAR


def far_places(node: ir.Node, sizes: Magnitudes, write: Writer) -> tuple[ir.Value, ...] | None:
    """Sample far places at 1000, where all weights are 0 or of an edge, and others as torch."""
    x, grid = node.inputs[:2]
    dtype = sizes.dtype(grid)
    if grid is None or dtype not in _WITH_KERNEL:
        return None
    known = (len(v.shape) for v in (x, grid) if v is not None and v.shape is not None)
    rank = next(known, _IMAGE)
    mode = node.attributes.get_string("mode", "linear")
    padding = node.attributes.get_string("padding_mode", "zeros")
    wanted = treatment(mode, padding, rank)
    if wanted is Treatment.SAME:
        return None

    def number(value: float) -> ir.Value:
        return write.constant(np.array(value, dtype.numpy()))

    near = grid
    if padding != "reflection":
        near = write.op("Clip", grid, number(-_FAR), number(_FAR))
    if wanted is not Treatment.FAR_BUT_NAN:
        other = number(1 if wanted is Treatment.LAST else _FAR)
        infinite = write.op("IsInf", grid) if padding == "reflection" else None
        strange = write.op("IsNaN", grid)
        strange = strange if infinite is None else write.op("Or", strange, infinite)
        near = write.op("Where", strange, other, near)
    attributes = list(node.attributes.values())
    sampled = write.outputs(ir.Node("", node.op_type, [x, near], attributes))
    if wanted is not Treatment.NAN:
        return tuple(sampled)
    # A product with 0 is NaN for both, and the sum over the coordinates of a place is, too. The
    # axis is counted from the first: of no images, onnxruntime takes a negative one for another.
    nothing = write.reduce("ReduceSum", write.op("Mul", grid, number(0)), rank - 1, 0)
    return (write.op("Add", sampled[0], write.op("Unsqueeze", nothing, write.numbers([1]))),)
