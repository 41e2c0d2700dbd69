"""Models that a tracer gets wrong because of values: NumPy, random or Python numbers, ties."""

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
    """Random numbers times 0: they reach the output in the graph, and do not change it."""

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
