"""The documentation's operator, with an ONNX function as its body: any runtime can run it."""

from __future__ import annotations

from typing import Any

import onnxscript
import torch
from onnxscript import FLOAT
from onnxscript.onnx_opset import opset18 as op
from plugins_of_users import foo_unregistered

__all__ = ["foo_unregistered"]

custom_opsets = {"custom_domain": 2}


@onnxscript.script(onnxscript.values.Opset("custom_domain", 2))
def Foo(input1: FLOAT, input2: FLOAT, attr1: float, attr2: int) -> FLOAT:  # type: ignore[no-untyped-def]
    factor1 = op.Constant(value_float=attr1)
    factor2 = op.Cast(op.Constant(value_int=attr2), to=1)
    return op.Add(op.Mul(input1, factor1), op.Mul(input2, factor2))


def foo(input1: Any, input2: Any, attr1: float, attr2: int) -> Any:
    return Foo(input1, input2, attr1=attr1, attr2=attr2)


custom_translation_table = {torch.ops.custom_ops.foo_forward.default: foo}
