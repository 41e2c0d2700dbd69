"""The symbolic function of 2018, as the tutorial gives it."""

import torch.onnx
from torch.onnx.symbolic_helper import _scalar


def elu(g, input, alpha, inplace=False):  # type: ignore[no-untyped-def]
    return g.op("Elu", input, alpha_f=_scalar(alpha))


torch.onnx.register_custom_op_symbolic("aten::elu", elu, 9)
