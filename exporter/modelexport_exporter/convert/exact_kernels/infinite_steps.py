"""Recurrent layers that return NaN where a step adds infinities of both signs, as torch does.

onnxruntime's recurrent kernels clip what they add, so that inf - inf becomes a number. The products
of inputs and weights are computed a second time to find these, up to half of the layer's work:
only where the model looks for NaN or infinity itself.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.nan_in_layers import (
    Recurrence,
    recurrence,
    results_with_nan,
    run_layer,
    steps_of_each_row,
    within_rows,
)
from modelexport_exporter.convert.exact_kernels.writer import Writer

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_OF_CELL = [0, 2, 3]
"""The gates that lead to the cell state of an LSTM: all but the output gate."""
_GATE_AXIS = 3


def recurrent(node: ir.Node, sizes: Magnitudes, write: Writer) -> tuple[ir.Value, ...] | None:
    """Return NaN in each unit of which a gate is NaN, and in all units of later steps."""
    found = recurrence(node, sizes, write)
    if found is None:
        return None
    values = run_layer(node, write)
    gates = _gates(node, found, write)
    unit, cell = _any_gate(gates, write), gates
    if node.op_type == "LSTM":
        cell = write.op("Gather", gates, write.numbers(_OF_CELL), axis=_GATE_AXIS)
    step = write.reduce("ReduceMax", unit, _GATE_AXIS, 1)
    last = _last_steps(found, write)
    not_last = write.op("Sub", write.constant(np.array(1, np.int32)), last)
    along = write.op("Add", unit, _before(step, found.ways, write))
    earlier = _sum_of_steps(write.op("Mul", step, not_last), write)
    after = [
        write.op("Add", earlier, _sum_of_steps(write.op("Mul", now, last), write))
        for now in (unit, _any_gate(cell, write))
    ]
    return results_with_nan(found, values, [along, *after], write)


def _gates(node: ir.Node, found: Recurrence, write: Writer) -> ir.Value:
    """Return 1 where a gate is NaN, else 0, as [seq, directions, batch, gates, hidden]."""
    weights = node.inputs[1]
    assert weights is not None
    products = write.op(
        "MatMul",
        write.op("Unsqueeze", found.x, write.numbers([1])),
        write.op("Transpose", weights, perm=[0, 2, 1]),
    )
    flags = write.op("Cast", write.op("IsNaN", products), to=ir.DataType.INT32)
    flags = within_rows(found, flags, write)
    return write.op("Reshape", flags, write.numbers([0, 0, 0, _GATES[node.op_type], -1]))


def _any_gate(gates: ir.Value, write: Writer) -> ir.Value:
    return write.reduce("ReduceMax", gates, _GATE_AXIS, 0)


def _before(step: ir.Value, ways: tuple[int, ...], write: Writer) -> ir.Value:
    """Return how many earlier steps hold NaN, for each direction in its own order."""
    sums = []
    for place, way in enumerate(ways):
        own = write.op("Gather", step, write.numbers([place]), axis=1)
        sums.append(write.op("CumSum", own, write.number(0), exclusive=1, reverse=way))
    return sums[0] if len(sums) == 1 else write.op("Concat", *sums, axis=1)


def _last_steps(found: Recurrence, write: Writer) -> ir.Value:
    """Return 1 where a step is the last one of its row, in the order of each direction."""
    steps, count = steps_of_each_row(found.x, found.lengths, write)
    final = write.op("Sub", count, write.number(1))
    places = [final, write.number(0)]
    flags = [
        write.op("Cast", write.op("Equal", steps, places[way]), to=ir.DataType.INT32)
        for way in found.ways
    ]
    if len(flags) == 1:
        return flags[0]
    # A comparison with 0 has no dim of rows, one with lengths has.
    zero = write.op("Mul", flags[0], write.constant(np.array(0, np.int32)))
    return write.op("Concat", flags[0], write.op("Add", flags[1], zero), axis=1)


def _sum_of_steps(x: ir.Value, write: Writer) -> ir.Value:
    return write.reduce("ReduceSum", x, 0, 0)
