"""Modules that need a plugin, or whose autograd functions say how they are exported."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class MyRelu(torch.autograd.Function):
    """Brings its ONNX operators itself."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def symbolic(g: Any, input: Any) -> Any:
        return g.op("Clip", input, g.op("Constant", value_t=torch.tensor(0, dtype=torch.float)))


class MyLogExp(torch.autograd.Function):
    """Has no symbolic: its operators are inlined."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(input)
        h = input.exp()
        return h.log().log()


class WrongSymbolic(torch.autograd.Function):
    """Says that it is a tanh, but is a sigmoid."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(input)

    @staticmethod
    def symbolic(g: Any, input: Any) -> Any:
        return g.op("Tanh", input)


class ScaledClip(torch.autograd.Function):
    """Takes a number and returns two tensors."""

    @staticmethod
    def forward(
        ctx: Any,
        input: torch.Tensor,
        limit: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return input.clamp(-limit, limit), input.abs()

    @staticmethod
    def symbolic(g: Any, input: Any, limit: float) -> tuple[Any, Any]:
        low = g.op("Constant", value_t=torch.tensor(-limit, dtype=torch.float))
        high = g.op("Constant", value_t=torch.tensor(limit, dtype=torch.float))
        return g.op("Clip", input, low, high), g.op("Abs", input)


class Largest(torch.autograd.Function):
    """Is one node with two outputs and an attribute."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = input.topk(2, dim=-1)
        return values, places

    @staticmethod
    def symbolic(g: Any, input: Any) -> tuple[Any, Any]:
        count = g.op("Constant", value_t=torch.tensor([2]))
        return g.op("TopK", input, count, axis_i=-1, outputs=2)


class AtenRelu(torch.autograd.Function):
    """Asks for a node of ATen itself, which no runtime but Caffe2 had."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
        return torch.relu(input)

    @staticmethod
    def symbolic(g: Any, input: Any) -> Any:
        return g.at("relu", input)


class Applies(nn.Module):
    """Applies an autograd function to a linear layer's output."""

    def __init__(self, function: type[torch.autograd.Function], *arguments: object) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.function = function
        self.arguments = arguments

    def forward(self, x: torch.Tensor) -> Any:
        return self.function.apply(self.linear(x), *self.arguments)


class LogExp(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = MyLogExp.apply(x)
        return y


class Activation(nn.Module):
    """A linear layer and an activation by its name in torch."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.name = name
        self.kwargs = kwargs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        for namespace in (torch, nn.functional):
            if hasattr(namespace, self.name):
                result: torch.Tensor = getattr(namespace, self.name)(y, **self.kwargs)
                return result
        raise AttributeError(self.name)


class FooModel(nn.Module):
    """Calls an operator of the domain custom_ops, which a plugin defines."""

    def __init__(self, attr1: float, attr2: int) -> None:
        super().__init__()
        self.attr1 = attr1
        self.attr2 = attr2

    def forward(self, input1: torch.Tensor, input2: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.ops.custom_ops.foo_forward(
            input1, input2, self.attr1, self.attr2
        )
        return result


class ManyUnsupported(nn.Module):
    """Uses operators that no exporter translates, one of them twice, one in a submodule."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Unsupported()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.inner(x)
        y = torch.linalg.eigh(y)[1]
        return y + torch.linalg.eigh(x)[1].sum()


class Unsupported(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.ldl_factor(x)[0]


def relu_function() -> nn.Module:
    return Applies(MyRelu)


def wrong_symbolic() -> nn.Module:
    return Applies(WrongSymbolic)


def scaled_clip() -> nn.Module:
    return Applies(ScaledClip, 0.25)


def largest() -> nn.Module:
    return Applies(Largest)


def aten_relu() -> nn.Module:
    return Applies(AtenRelu)


def log_exp() -> nn.Module:
    return LogExp()


def activation(name: str, **kwargs: Any) -> nn.Module:
    return Activation(name, **kwargs)


def foo(attr1: float = 0.5, attr2: int = 3) -> nn.Module:
    return FooModel(attr1, attr2)


class FusedMultiplyAdd(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return torch.addcmul(x, y, z, value=0.5)


class Parts(nn.Module):
    """Calls an operator that a runtime library brings."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        negative, positive = torch.ops.custom_ops.neg_pos(x)
        return positive * 2 + negative.abs()


def parts() -> nn.Module:
    return Parts()


def fused_multiply_add() -> nn.Module:
    return FusedMultiplyAdd()


def many_unsupported() -> nn.Module:
    return ManyUnsupported()
