"""Modules that run in PyTorch and change their meaning in a graph, one for each kind of pitfall.

The line that is to blame ends in a comment with the kind's name.
"""
# mypy: ignore-errors
# ruff: noqa: PERF401

from __future__ import annotations

import concurrent.futures
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn
from torch.func import hessian
from torch.nn import functional as F  # noqa: N812


class NumpyMean(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = np.mean(x.detach().cpu().numpy())  # NumPy
        return x - float(mean)


class NumpyMethod(nn.Module):
    def forward(self, x):  # noqa: ANN001
        array = x.numpy()  # NumPy
        return torch.from_numpy(array * 2)  # NumPy


class NumpyNoise(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + np.random.rand()  # Random


class Noise(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(x.shape)  # Random


class PythonNoise(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * random.random()  # Random


class AlwaysDrops(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x, 0.5)  # Random


class Item(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = x.max().item()  # PythonNumber
        return x * scale


class Retensored(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tensor(float(x.sum()))  # PythonNumber
        return x * y


class ToList(nn.Module):
    def forward(self, x: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        first, second = sizes.tolist()  # PythonNumber
        return x * first + second


class BranchesOnData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # DataBranch
            return x * 2
        return x - 1


class BranchesInHelper(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.choose(x.mean())

    def choose(self, value):  # noqa: ANN001
        return value if value > 0 else -value  # DataBranch


class BranchesOnSize(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 4:  # SizeBranch
            return x * 2
        return x


class LoopsOverData(nn.Module):
    def forward(self, x: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        for _ in range(int(times)):  # DataLoop PythonNumber
            x = x * 2
        return x


class LoopsUntil(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while x.sum() < 100:  # DataLoop
            x = x * 2
        return x


class LoopsOverRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = []
        for position in range(x.shape[0]):  # SizeLoop
            rows.append(x[position] * position)  # ListAppend
        return torch.stack(rows)


class LoopsOverTensor(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(x.shape[1:])
        for row in x:  # SizeLoop
            total = total + row
        return total


class ShapeInPlace(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length = x.shape
        length += 2  # ShapeArithmetic
        return x.new_zeros(batch, length)


class CountsItself(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1  # State
        self.calls = self.calls + 1  # State
        return x * self.count


class ReadsNegative(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        index = torch.tensor([-1, 0])
        return x[index]  # IndexRead


class WritesThroughTwo(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[i, j] = 0  # IndexWrite
        return y


class WritesApart(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[i, :, i] = 0  # IndexWrite
        return y


class WritesNegative(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[torch.tensor([-1])] = 0  # IndexWrite
        return y


class WritesInput(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x[:, 0] = 0  # InputWrite
        return x * 2


class WritesData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        y.data[0] = 0  # InputWrite
        return y


class ChecksType(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = x.shape[0]
        if isinstance(length, int):  # TypeCheck
            return x * length
        return x


class ExportsOtherwise(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if torch.onnx.is_in_onnx_export():  # ExportBranch
            return x * 2
        return x * 3


class Harmless(nn.Module):
    """Everything here is right in a graph too."""

    def __init__(self, activation: str = "relu", layers: int = 2) -> None:
        super().__init__()
        self.activation = activation
        self.scale = nn.Parameter(torch.ones(4))
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(layers))
        self.dropout = nn.Dropout(0.1)

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None, flip: bool = False
    ) -> dict[str, torch.Tensor]:
        batch, width = x.shape[0], x.size(-1)
        kept = []
        for number, layer in enumerate(self.layers):
            x = layer(x)
            kept.append(x)
            if number == 0 and self.activation == "relu":
                x = F.relu(x)
        if mask is not None:
            x = x * mask
        if flip:
            x = x.flip(0)
        if x.dim() == 3 or x.dtype == torch.float64:
            x = x.float()
        x = F.dropout(x, 0.1, training=self.training)
        y = x.reshape(batch, 2, width // 2).clone()
        y[:, 0] = 0
        y[y < 0] = 1
        print("shape", y.shape)
        total = sum(kept)
        return {"y": y + torch.arange(width // 2), "x": x * self.scale, "total": total}


class TakesGradient(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.detach().requires_grad_(True)
        return torch.autograd.grad(y.sin().sum(), y)[0]  # Gradient


class TakesDerivative(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = torch.func.vmap(self.net)(x)
        return rows + torch.func.vmap(hessian(self._energy))(x)  # Gradient

    def _energy(self, row: torch.Tensor) -> torch.Tensor:
        energy: torch.Tensor = self.net(row)[0]
        return energy


class GoesBackward(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sin().sum()
        y.backward()  # Gradient
        return y


class ReadsClock(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (time.time() % 10)  # Random


class Gumbel(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gumbel_softmax(x)


class SeededNoise(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(3)
        return x + torch.randn(x.shape)  # Random


class UnusedNoise(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.randn(x.shape)  # Random
        return x + 0 * noise


class KeepsFirst(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.first is None:
            self.first = x.mean(0)  # State
        return x - self.first


CALLS = 0


class CountsGlobally(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        global CALLS  # noqa: PLW0603
        CALLS += 1  # State
        return x * CALLS


class KeepsAll(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(x.mean())  # State
        return x - torch.stack(self.seen).mean()


class WritesHalf(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        both = torch.empty(x.shape[0], 8)
        both[:, :4] = x
        return both


class WritesAll(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        both = torch.empty(x.shape[0], 8)
        both[:, :4] = x
        both[:, 4:] = 2 * x
        return both


class CatchesIndexError(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.ones(3, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = (x[:, 0].abs() * 4).long()
        try:
            found = self.table[rows]
        except IndexError:  # CaughtError
            found = self.table[rows % 3] * 2
        return x + found


class CatchesAnything(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        square = x[:, :, None] * x[:, None, :] - 0.1
        try:
            factor = torch.linalg.cholesky(square)
        except Exception:  # noqa: BLE001  # CaughtError
            factor = square
        return factor


class RaisesAnother(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            x = x.unheard_of(x * 2)
        except AttributeError:
            x = x * 2
        try:
            return x.view(-1, 4)
        except RuntimeError as error:
            raise ValueError(str(x.shape)) from error


class KeepsInDefault(nn.Module):
    def forward(
        self,
        x: torch.Tensor,
        history: list[torch.Tensor] = [],  # noqa: B006
        *,
        counts: dict[str, int] = {},  # noqa: B006
        names: list[str] = [],  # noqa: B006
    ) -> torch.Tensor:
        history.append(x.mean())  # State
        del history[:-5]  # State
        counts["calls"] = counts.get("calls", 0) + 1  # State
        return x - torch.stack(history).mean() + len(names)


class ComputesInThreads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.branches = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pool = ThreadPoolExecutor(2)
        futures = [pool.submit(branch, x) for branch in self.branches]  # Thread
        first, second = (future.result() for future in futures)
        with concurrent.futures.ThreadPoolExecutor(2) as other:
            third, fourth = other.map(torch.tanh, (first, second))  # Thread
        return third + fourth


class StartsThread(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: list[torch.Tensor] = []
        threading.Thread(target=lambda: found.append(x * 2)).start()  # Thread
        while not found:
            pass
        return found[0]


class KeepsPool(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pool = ThreadPoolExecutor(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool.submit(torch.tanh, x).result()  # Thread
