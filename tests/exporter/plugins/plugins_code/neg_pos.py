"""An operator that a library of onnxruntime custom operators brings."""

import neg_pos_op  # noqa: F401
import torch


def symbolic(g, x):
    negative, positive = g.op("ai.onnx.contrib::NegPos", x, outputs=2)
    return g.op("prim::ListConstruct", negative.setType(x.type()), positive.setType(x.type()))


torch.onnx.register_custom_op_symbolic("custom_ops::neg_pos", symbolic, 9)
