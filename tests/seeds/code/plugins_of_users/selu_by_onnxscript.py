"""An onnxscript function as an operator, as the documentation of torch 2.7 gives it."""

from typing import Any

import onnxscript
import torch.onnx
from onnxscript.onnx_opset import opset15 as op

opset_version = 15

custom_opset = onnxscript.values.Opset(domain="onnx-script", version=1)


@onnxscript.script(custom_opset)
def Selu(X):  # type: ignore[no-untyped-def]
    alpha = 1.67326
    gamma = 1.0507
    alphaX = op.CastLike(alpha, X)
    gammaX = op.CastLike(gamma, X)
    neg = gammaX * (alphaX * op.Exp(X) - alphaX)
    pos = gammaX * X
    zero = op.CastLike(0, X)
    return op.Where(X <= zero, neg, pos)


def custom_selu(g: Any, X: Any) -> Any:
    return g.onnxscript_op(Selu, X).setType(X.type())


torch.onnx.register_custom_op_symbolic(
    symbolic_name="aten::selu", symbolic_fn=custom_selu, opset_version=opset_version
)
