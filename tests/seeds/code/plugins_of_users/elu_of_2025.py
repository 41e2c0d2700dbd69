"""The symbolic function of torch 2.7's documentation, put where it says."""

import torch
from torch.onnx import symbolic_opset9


def elu(g, input: torch.Value, alpha: torch.Value, inplace: bool = False):  # type: ignore[no-untyped-def]
    return g.op("Elu", input, alpha_f=alpha)


symbolic_opset9.elu = elu
