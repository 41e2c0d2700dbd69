"""The symbolic function of 2018, as the tutorial on adding an operator has it."""

import torch.onnx.symbolic
from torch.onnx.symbolic_helper import _scalar


def elu(g, input, alpha, inplace=False):
    return g.op("Elu", input, alpha_f=_scalar(alpha))


torch.onnx.symbolic.elu = elu
