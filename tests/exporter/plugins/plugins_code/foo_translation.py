"""A translation of the operator for the torch.export route."""

import foo_op  # noqa: F401
import torch
from onnxscript import opset18 as op


def foo_forward(input1, input2, attr1: float, attr2: int):
    return op.Add(op.Mul(input1, attr1), op.Mul(input2, float(attr2)))


custom_translation_table = {torch.ops.custom_ops.foo_forward.default: foo_forward}
