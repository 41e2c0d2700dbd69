"""A plugin with a symbolic function that is wrong: it forgets alpha."""

from torch.onnx import register_custom_op_symbolic


def elu(g, input, alpha, scale, input_scale):
    return g.op("Elu", input, alpha_f=1.0)


register_custom_op_symbolic("aten::elu", elu, 9)
