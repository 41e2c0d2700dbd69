"""The documentation's operator: its node is of a domain that onnxruntime does not know."""

from __future__ import annotations

from typing import Any

import torch
import torch.onnx
from plugins_of_users import foo_unregistered
from torch.onnx import symbolic_helper

__all__ = ["foo_unregistered"]


@symbolic_helper.parse_args("v", "v", "f", "i")
def symbolic_foo_forward(g: Any, input1: Any, input2: Any, attr1: float, attr2: int) -> Any:
    return g.op("custom_domain::Foo", input1, input2, attr1_f=attr1, attr2_i=attr2)


torch.onnx.register_custom_op_symbolic("custom_ops::foo_forward", symbolic_foo_forward, 9)
