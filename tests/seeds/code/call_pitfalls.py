"""Models that a tracer gets wrong because the next call, or the export, computes something else."""

import torch
from torch import Tensor, nn


class Counter(nn.Module):
    """Counts its calls: a trace leaves the count behind."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls


class CountingBuffer(nn.Module):
    """The same in a buffer, which is part of the checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls


class Remembering(nn.Module):
    """Keeps what it computed; the next call would return it."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.last is None:
            self.last = x.mean()
        return x - self.last


class History(nn.Module):
    """A list that grows with each call, and is not read."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x.mean())
        return x * self.weight


class OtherWhenExported(nn.Module):
    """A wrong branch for export."""

    def forward(self, x: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return x * 2
        return x * 3


class SameWhenExported(nn.Module):
    """A right branch for export: another way to the same."""

    def forward(self, x: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)
        return torch.softmax(x, -1)


class Relu(torch.autograd.Function):
    """The document's, and its symbolic is wrong."""

    @staticmethod
    def forward(ctx, input: Tensor) -> Tensor:
        return input.clamp(min=0)

    @staticmethod
    def symbolic(g, input):
        return g.op("Abs", input)


class WrongSymbolic(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = Relu.apply(x)
        return result + 1


class UsesElu(nn.Module):
    """For a plugin whose symbolic function forgets alpha."""

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.elu(x, 0.3)


class Step(nn.Module):
    """A step of a recurrent model, which keeps its hidden state and a count on itself."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 6)
        self.register_buffer("hidden", torch.zeros(1, 6))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.hidden = self.cell(x.mean(0, keepdim=True), self.hidden)
        self.steps += 1
        return self.hidden / self.steps


class Model(nn.Module):
    """Calls the step, as a part."""

    def __init__(self) -> None:
        super().__init__()
        self.step = Step()

    def forward(self, x: Tensor) -> Tensor:
        return self.step(x) + x.sum()
