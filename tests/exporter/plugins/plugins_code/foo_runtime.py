"""A Python operator that onnxruntime runs during verification."""

import foo_op  # noqa: F401
import onnxruntime_extensions
import torch
from onnxruntime_extensions import PyOp, onnx_op


@onnx_op(
    op_type="FooInPython",
    inputs=[PyOp.dt_float, PyOp.dt_float],
    outputs=[PyOp.dt_float],
    attrs={"attr1": PyOp.dt_float, "attr2": PyOp.dt_int64},
)
def foo(input1, input2, attr1, attr2):
    return input1 * attr1 + input2 * attr2


def symbolic_foo_forward(g, input1, input2, attr1, attr2):
    return g.op("ai.onnx.contrib::FooInPython", input1, input2, attr1_f=attr1, attr2_i=attr2)


torch.onnx.register_custom_op_symbolic("custom_ops::foo_forward", symbolic_foo_forward, 9)


def configure_session(options):
    options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
