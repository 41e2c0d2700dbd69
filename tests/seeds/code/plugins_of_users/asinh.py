"""A symbolic function for an ATen operator that the TorchScript exporter lacks."""

from __future__ import annotations

from typing import Any

import torch.onnx


def asinh(g: Any, input: Any) -> Any:
    return g.op("Asinh", input)


torch.onnx.register_custom_op_symbolic("aten::asinh", asinh, 9)
