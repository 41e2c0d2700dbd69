"""A symbolic function that asks values for their type and sizes, and sets a type."""

from __future__ import annotations

from typing import Any

import torch
import torch.onnx
from torch.onnx import symbolic_helper
from torch.onnx.symbolic_helper import _if_scalar_type_as, _scalar


@symbolic_helper.parse_args("v", "v", "v", "v")
def addcmul(g: Any, input: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    assert input.type().sizes()[-1] == 6
    number = _scalar(value)
    factor = g.op("Constant", value_t=torch.tensor(float(number)))
    factor = _if_scalar_type_as(factor, input)
    product = g.op("Mul", g.op("Mul", tensor1, tensor2), factor)
    return g.op("Add", input, product).setType(input.type())


torch.onnx.register_custom_op_symbolic("aten::addcmul", addcmul, 9)
