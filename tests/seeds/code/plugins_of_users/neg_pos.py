"""An operator that a library of onnxruntime custom operators brings: NegPos of its extensions."""

from __future__ import annotations

from typing import Any

import torch
import torch.onnx


@torch.library.custom_op("custom_ops::neg_pos", mutates_args=())
def neg_pos(x: torch.Tensor) -> list[torch.Tensor]:
    return [x.clamp(max=0), x.clamp(min=0)]


@neg_pos.register_fake
def _(x: torch.Tensor) -> list[torch.Tensor]:
    return [torch.empty_like(x), torch.empty_like(x)]


def symbolic_neg_pos(g: Any, x: Any) -> Any:
    negative, positive = g.op("ai.onnx.contrib::NegPos", x, outputs=2)
    return g.op("prim::ListConstruct", negative.setType(x.type()), positive.setType(x.type()))


torch.onnx.register_custom_op_symbolic("custom_ops::neg_pos", symbolic_neg_pos, 9)
