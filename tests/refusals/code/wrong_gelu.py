"""A plugin whose translation computes something else than the operator."""

import onnxscript
import torch
from onnxscript import opset18 as op

functions = onnxscript.values.Opset("refusals.functions", 1)


@onnxscript.script(functions)
def Gelu(self, approximate: str = "none"):  # noqa: N802
    return op.Relu(self)


custom_translation_table = {torch.ops.aten.gelu.default: Gelu}
