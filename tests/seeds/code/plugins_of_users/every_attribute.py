"""Symbolic functions with every kind of attribute: numbers, strings and lists."""

from __future__ import annotations

from typing import Any

import torch
import torch.onnx
from torch.onnx import symbolic_helper


def leaky_relu(g: Any, input: Any, slope: Any, inplace: Any = False) -> Any:
    return g.op("LeakyRelu", input, alpha_f=symbolic_helper._maybe_get_const(slope, "f"))


def gelu(g: Any, input: Any, approximate: Any = "none") -> Any:
    mode = symbolic_helper._maybe_get_const(approximate, "s")
    return g.op("Gelu", input, approximate_s=mode)


@symbolic_helper.parse_args("v", "is")
def permute(g: Any, self: Any, dims: list[int]) -> Any:
    return g.op("Transpose", self, perm_i=dims)


torch.onnx.register_custom_op_symbolic("aten::leaky_relu", leaky_relu, 9)
torch.onnx.register_custom_op_symbolic("aten::gelu", gelu, 20)
torch.onnx.register_custom_op_symbolic("aten::permute", permute, 9)
