"""Models that a tracer gets wrong: each pitfall as in the documents, and in variations."""

import math
import random

import numpy as np
import torch
from torch import Tensor, nn


class NumpyMean(nn.Module):
    """NumPy inside forward: its result is a constant to every tracer."""

    def forward(self, x: Tensor) -> Tensor:
        values = x.detach().numpy()
        middle = np.mean(values, axis=0)
        return x - torch.from_numpy(middle)


class NumpyConcatenate(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        joined = np.concatenate((x.numpy(), y.numpy()), axis=1)
        return torch.tensor(joined)


class NumpyOfSizes(nn.Module):
    """NumPy on sizes only."""

    def forward(self, x: Tensor) -> Tensor:
        scale = 1.0 / np.sqrt(x.shape[-1])
        rows = np.prod(x.shape)
        return x * float(scale) + int(rows)


class NumpyConstants(nn.Module):
    """NumPy values that do not depend on the input: harmless."""

    def __init__(self) -> None:
        super().__init__()
        self.window = np.hanning(4).astype(np.float32)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.from_numpy(self.window) + float(np.pi)


class NumpyRandom(nn.Module):
    """The document's own: other values in each call."""

    def forward(self, x: Tensor) -> Tensor:
        noise = np.random.rand(1, 4)
        return x + torch.from_numpy(noise).float()


class TorchRandom(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat((x, torch.randn(1, 4)), dim=0)


class PythonRandom(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * random.random()


class RandomUnused(nn.Module):
    """Random numbers that reach no output."""

    def forward(self, x: Tensor) -> Tensor:
        noise = torch.randn_like(x)
        return x + 0 * noise.clamp(-1, 1)


class ToList(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = 0.0
        for value in x[0].tolist():
            total += value
        return x + total


class TensorOfFloat(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.tensor(float(x.sum()))


class ItemArithmetic(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        largest = x.abs().max().item()
        return x / (largest + 1.0)


class ItemInMath(nn.Module):
    """math on a Python number that was a tensor."""

    def forward(self, x: Tensor) -> Tensor:
        return x * math.sqrt(abs(x.mean().item()))


class IntOfTensor(nn.Module):
    def forward(self, x: Tensor, k: Tensor) -> Tensor:
        return x[:, : int(k)].sum(1)


class ReshapeByItem(nn.Module):
    """The document's bad one."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x.reshape(y.item(), -1)


class ReshapeByTensor(nn.Module):
    """The document's good one."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x.reshape(y, -1)


class ViewByItem(nn.Module):
    """The same in other clothes."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        rows = int(y)
        return x.view(rows, 12 // rows) * 2


class ShapeInPlace(nn.Module):
    """The document's own: += on a size."""

    def forward(self, states: Tensor) -> Tensor:
        batch_size, seq_length = states.shape[:2]
        real_seq_length = seq_length
        real_seq_length += 2
        return torch.tensor(real_seq_length + seq_length)


class ShapeInPlaceReturned(nn.Module):
    """Word by word: it returns a Python number."""

    def forward(self, states):
        batch_size, seq_length = states.shape[:2]
        real_seq_length = seq_length
        real_seq_length += 2
        return real_seq_length + seq_length


class ShapeInPlaceOtherwise(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n = x.size(0)
        m = n
        m *= 2
        m -= 1
        return torch.zeros(m, n) + x.sum()


class Branch(nn.Module):
    """Which way depends on the values."""

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x * 2
        return x - 1


class BranchInline(nn.Module):
    """The same as an expression, on a Python bool, in a nested call."""

    def pick(self, x: Tensor) -> float:
        return 3.0 if bool((x > 1).any()) else -1.0

    def forward(self, x: Tensor) -> Tensor:
        return x * self.pick(x)


class BranchOfBranches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.small = nn.Linear(4, 4)
        self.large = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        if x.abs().max() > 2:
            if x.mean() > 0:
                x = self.large(x)
            else:
                x = self.large(-x)
        else:
            x = self.small(x)
        return x


class BranchUnscriptable(nn.Module):
    """A data-dependent branch in a model that TorchScript cannot compile."""

    def forward(self, x: Tensor, *rest: Tensor) -> Tensor:
        names = {"up": lambda v: v + 1, "down": lambda v: v - 1}
        return names["up" if x.sum() > 0 else "down"](x)


class BranchOnNothing(nn.Module):
    """Whether a mask selects anything."""

    def forward(self, x: Tensor) -> Tensor:
        chosen = x[x > 1]
        if chosen.numel() > 0:
            return chosen.sum()
        return x.min()


class TripCount(nn.Module):
    """As often as an input says."""

    def forward(self, x: Tensor, times: Tensor) -> Tensor:
        for _ in range(int(times)):
            x = x * 2 + 1
        return x


class WhileLarge(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while bool(x.abs().max() > 1):
            x = x / 2
        return x


class WhileCounting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        steps = torch.zeros(1)
        while bool(x.norm() > 0.5):
            x = x * 0.7
            steps = steps + 1
            if bool(steps > 6):
                break
        return x + steps


class SizeBranch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) > 4:
            return x * 2
        return x - 1


class SizeLoop(nn.Module):
    """One step for each row, and what it adds depends on the step."""

    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros(4)
        for i in range(x.size(0)):
            total = total * 0.5 + x[i] * i
        return total


class SizeNumber(nn.Module):
    """Python ints made of sizes."""

    def forward(self, x: Tensor) -> Tensor:
        n = int(x.shape[0])
        positions = torch.arange(n)
        return x * n + positions[:, None] / float(n)


class SizeOfLen(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.sum(0) / len(x) + math.log(len(x))


class SizeIteration(nn.Module):
    """Rows one by one, collected in a list."""

    def forward(self, x: Tensor) -> Tensor:
        rows = []
        for row in x:
            rows.append(row.cumsum(0))
        return torch.stack(rows)


class SizeParity(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] % 2 == 1:
            x = nn.functional.pad(x, (0, 1))
        return x.view(x.size(0), x.size(1) // 2, 2).sum(-1)


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


class Cancelling(nn.Module):
    """The difference of nearly equal numbers: float32 has no digits left."""

    def forward(self, x: Tensor) -> Tensor:
        big = x.double() if False else x + 1e4
        mean = big.mean(-1, keepdim=True)
        return (big * big).mean(-1) - (mean * mean).squeeze(-1)


class Chaos(nn.Module):
    """A logistic map: an error of one bit grows until nothing is left."""

    def forward(self, x: Tensor) -> Tensor:
        state = torch.sigmoid(x.mean(-1))
        for _ in range(60):
            state = 3.99 * state * (1 - state)
        return state


class Ties(nn.Module):
    """Which of equal elements is first: defined for argmax in ONNX, not for topk and sort."""

    def forward(self, x: Tensor):
        rounded = torch.round(x)
        return rounded.argmax(-1), rounded.topk(3, dim=-1)[1]


class TieBreaking(nn.Module):
    """A comparison of two ways to compute one number."""

    def forward(self, x: Tensor) -> Tensor:
        same = x.sum(-1) == x.flip(-1).sum(-1)
        return same.float()[:, None] + (x.exp().log() > x)


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
