"""Registers a symbolic function and takes it back."""

from __future__ import annotations

from typing import Any

import torch.onnx


def asinh(g: Any, input: Any) -> Any:
    return g.op("Asinh", input)


torch.onnx.register_custom_op_symbolic("aten::asinh", asinh, 9)
torch.onnx.unregister_custom_op_symbolic("aten::asinh", 9)
