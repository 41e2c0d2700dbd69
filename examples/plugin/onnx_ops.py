"""The plugin: defines how example::snake is exported to ONNX, on both routes."""

import onnxscript
import snake  # noqa: F401 - registers the operator
import torch
from onnxscript import opset18 as op

operators = onnxscript.values.Opset("example.operators", 1)


@onnxscript.script(operators)
def Snake(x, alpha: float):  # noqa: N802
    factor = op.CastLike(op.Constant(value_float=alpha), x)
    wave = op.Sin(factor * x)
    return x + wave * wave / factor


# The torch.export route.
custom_translation_table = {torch.ops.example.snake.default: Snake}


# The TorchScript route.
@torch.onnx.symbolic_helper.parse_args("v", "f")
def symbolic_snake(g, x, alpha):
    return g.onnxscript_op(Snake, x, alpha_f=alpha).setType(x.type())


torch.onnx.register_custom_op_symbolic("example::snake", symbolic_snake, 9)

custom_opsets = {"example.operators": 3}
