"""The symbolic function of torch 2.7's documentation: added to symbolic_opset9.py."""

import torch
from torch.onnx import symbolic_opset9


def elu(g, input: torch.Value, alpha: torch.Value, inplace: bool = False):
    return g.op("Elu", input, alpha_f=alpha)


symbolic_opset9.elu = elu
