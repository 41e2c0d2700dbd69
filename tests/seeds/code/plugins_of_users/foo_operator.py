"""An operator of the domain custom_ops with its symbolic function, a composition of ONNX's."""

from __future__ import annotations

from typing import Any

import torch
import torch.onnx
from torch.onnx import symbolic_helper


@torch.library.custom_op("custom_ops::foo_forward", mutates_args=())
def foo_forward(
    input1: torch.Tensor, input2: torch.Tensor, attr1: float, attr2: int
) -> torch.Tensor:
    return input1 * attr1 + input2 * attr2


@foo_forward.register_fake
def _(input1: torch.Tensor, input2: torch.Tensor, attr1: float, attr2: int) -> torch.Tensor:
    return torch.empty_like(input1)


@symbolic_helper.parse_args("v", "v", "f", "i")
def symbolic_foo_forward(g: Any, input1: Any, input2: Any, attr1: float, attr2: int) -> Any:
    factor1 = g.op("Constant", value_t=torch.tensor(attr1, dtype=torch.float32))
    factor2 = g.op("Constant", value_t=torch.tensor(float(attr2), dtype=torch.float32))
    return g.op("Add", g.op("Mul", input1, factor1), g.op("Mul", input2, factor2))


torch.onnx.register_custom_op_symbolic("custom_ops::foo_forward", symbolic_foo_forward, 9)
