"""Operators of which ONNX, or onnxruntime, has no kernel for 8 and 16 bit integers.

They are computed as int32, which holds all of these numbers, and narrowed again, which wraps as
torch does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_INT8, _INT16 = ir.DataType.INT8, ir.DataType.INT16
_UINT8, _UINT16 = ir.DataType.UINT8, ir.DataType.UINT16
_OF_BOOLEANS = frozenset(
    {"Not", "And", "Or", "Xor", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}
    | {"IsNaN", "IsInf"}
)
_OF_16_BITS = frozenset({_INT16, _UINT16})
_NARROW = _OF_16_BITS | {_INT8, _UINT8}


@dataclass(frozen=True)
class Lacking:
    """The dtypes that an operator lacks, and which of its values have that dtype."""

    dtypes: frozenset[ir.DataType] = _OF_16_BITS
    inputs: tuple[int, ...] | None = (0,)
    """None: all."""
    returns_it: bool = True


LACKING: Mapping[str, Lacking] = {
    "ReduceMax": Lacking(),
    "ReduceMin": Lacking(),
    "ArgMax": Lacking(returns_it=False),
    "ArgMin": Lacking(returns_it=False),
    "NonZero": Lacking(_OF_16_BITS | {_INT8}, returns_it=False),
    "Trilu": Lacking(_OF_16_BITS | {_INT8, _UINT8}),
    "Relu": Lacking(frozenset({_INT16})),
    "Neg": Lacking(frozenset({_UINT8, _UINT16})),
    "Max": Lacking(inputs=None),
    "Min": Lacking(inputs=None),
    "Clip": Lacking(inputs=None),
    "Pad": Lacking(inputs=(0, 2)),
    "Where": Lacking(inputs=(1, 2)),
    "ReduceSum": Lacking(_NARROW),
    "CumSum": Lacking(_NARROW),
    "MatMul": Lacking(_NARROW, inputs=(0, 1)),
}
"""What onnxruntime 1.31 lacks at opset 20; a test tries each.

Sums of int32 wrap there, so that their lowest bits are those of any sum. Products of reductions go
through double and do not.
"""


def compute_as_int32(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Return what the node computes of the same numbers as int32, in its own dtype."""
    lacking = LACKING[node.op_type]
    places = range(len(node.inputs)) if lacking.inputs is None else lacking.inputs
    given = [node.inputs[place] for place in places if place < len(node.inputs)]
    dtype = next((found for value in given if (found := sizes.dtype(value))), None)
    if dtype not in lacking.dtypes:
        return None
    result = write.in_dtype(node, ir.DataType.INT32, places)
    return write.op("Cast", result, to=dtype) if lacking.returns_it else result


def _is_boolean(x: ir.Value, sizes: Magnitudes) -> bool:
    """Return whether a value is of booleans, also where a script does not note its dtype."""
    dtype, source = sizes.dtype(x), x.producer()
    if dtype is not None or source is None:
        return dtype is ir.DataType.BOOL
    return source.op_type in _OF_BOOLEANS


def count_booleans(node: ir.Node, sizes: Magnitudes, write: Writer) -> ir.Value | None:
    """Count as int64, as torch does: CumSum takes no booleans."""
    x = node.inputs[0]
    if x is None or not _is_boolean(x, sizes):
        return None
    node.outputs[0].dtype = ir.DataType.INT64
    return write.in_dtype(node, ir.DataType.INT64, (0,))
