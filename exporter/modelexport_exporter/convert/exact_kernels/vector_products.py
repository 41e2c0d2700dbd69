"""Products of a transposed matrix and a vector, which onnxruntime computes wrongly.

Its optimizer makes one node of Transpose and MatMul, and that node reads the matrix as it is stored
where the right operand has one dim: `A.T @ y` is off by its own size (onnxruntime 1.31).
"""

from __future__ import annotations

import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.writer import Writer

_AXES_ARE_INPUTS = 13


def is_of_vector(node: ir.Node) -> bool:
    """Return whether a node multiplies a transposed matrix with a vector."""
    if node.op_type != "MatMul" or not _is_transposed(node.inputs[0]):
        return False
    left, right = (value.shape if value is not None else None for value in node.inputs)
    return left is not None and right is not None and len(left) > 1 and len(right) == 1


def product_of_vector(node: ir.Node, _: Magnitudes, write: Writer) -> ir.Value | None:
    """Multiply with the vector as a matrix of one column, and drop that dim."""
    left, right = node.inputs
    assert left is not None
    assert right is not None
    column = _with_axis(write, "Unsqueeze", right, 1)
    return _with_axis(write, "Squeeze", write.op("MatMul", left, column), -1)


def _is_transposed(value: ir.Value | None) -> bool:
    producer = value.producer() if value is not None else None
    if producer is not None and producer.op_type == "Cast":
        return _is_transposed(producer.inputs[0])
    return producer is not None and producer.op_type == "Transpose"


def _with_axis(write: Writer, operator: str, x: ir.Value, axis: int) -> ir.Value:
    if write.opset >= _AXES_ARE_INPUTS:
        return write.op(operator, x, write.numbers([axis]))
    return write.op(operator, x, axes=[axis])
