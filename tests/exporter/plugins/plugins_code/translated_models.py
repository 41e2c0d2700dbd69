"""Models that plugins translate."""

import torch


class Elu(torch.nn.Module):
    def __init__(self, alpha=1.7):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return torch.nn.functional.elu(x, alpha=self.alpha)


class Selu(torch.nn.Module):
    def forward(self, x):
        return torch.selu(x)


class MyRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def symbolic(g: torch.Graph, input: torch.Value) -> torch.Value:
        return g.op("Clip", input, g.op("Constant", value_t=torch.tensor(0, dtype=torch.float)))


class MyLogExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(input)
        h = input.exp()
        return h.log().log()


class MyClip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input: torch.Tensor, low: float, high: float) -> torch.Tensor:
        return input.clamp(low, high)


class Applied(torch.nn.Module):
    def __init__(self, function, *arguments):
        super().__init__()
        self.function = function
        self.arguments = arguments

    def forward(self, x):
        return self.function.apply(x, *self.arguments)


def my_relu():
    return Applied(MyRelu)


class AbsoluteLogExp(torch.nn.Module):
    def forward(self, x):
        return MyLogExp.apply(x.abs() + 1.0)


def my_clip():
    return Applied(MyClip, -0.5, 0.75)


class FooModel(torch.nn.Module):
    def __init__(self, attr1=0.5, attr2=3):
        super().__init__()
        self.attr1 = attr1
        self.attr2 = attr2

    def forward(self, input1, input2):
        return torch.ops.custom_ops.foo_forward(input1, input2, self.attr1, self.attr2)


class Erfinv(torch.nn.Module):
    """Two operators that ONNX does not have, one of them with arguments and two outputs."""

    def forward(self, x):
        values, indices = torch.kthvalue(x, 2, dim=-1)
        return torch.special.i1e(x), values, indices


class Unusual(torch.nn.Module):
    """Overloads, lists of tensors, an absent tensor, element types, sizes that are inputs."""

    def forward(self, x):
        edges = torch.tensor([-1.0, 0.0, 1.0], dtype=x.dtype)
        buckets = torch.bucketize(x, edges, right=True)
        blocks = torch.block_diag(x, x[:, :2])
        moved = torch.special.i0e(x.half())
        return buckets, blocks, moved


class Misses(torch.nn.Module):
    """Uses what onnxruntime has no operator for, with its own torch.library operator."""

    def forward(self, input1, input2):
        return torch.ops.custom_ops.foo_forward(input1, input2, 0.25, 2).sum(-1)


class Negative(torch.nn.Module):
    def forward(self, x):
        return torch.ops.custom_ops.neg_pos(x)
