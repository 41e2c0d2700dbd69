"""A decomposition of the operator into ATen operators."""

import foo_op  # noqa: F401
import torch


def foo_forward(input1, input2, attr1, attr2):
    return input1 * attr1 + input2 * attr2


decompositions = {torch.ops.custom_ops.foo_forward: foo_forward}
