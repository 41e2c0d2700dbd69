"""Models that a tracer gets wrong because of sizes: arithmetic, branches and loops on them."""

import math

import torch
from torch import Tensor, nn


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
