"""Operators that multiply matrices and reduce tensors: one output a form."""

import torch
from torch import Tensor, nn


class MatMul(nn.Module):
    def forward(self, x: Tensor, y: Tensor, batch: Tensor):
        return (
            torch.mm(x, y),
            x.mm(y).t(),
            x @ y,
            torch.matmul(batch, y),
            torch.bmm(batch, batch.transpose(1, 2)),
            torch.mv(x, y[:, 0]),
            torch.dot(x[0], y[:, 0]),
            torch.einsum("ij,jk->ik", x, y),
            torch.einsum("bij,jk->bki", batch, y),
            torch.outer(x[0], y[0]),
        )


class AddMM(nn.Module):
    def forward(self, bias: Tensor, x: Tensor, y: Tensor, full: Tensor):
        z = full.clone()
        z.addmm_(x, y, beta=2, alpha=-1)
        return (
            torch.addmm(bias, x, y),
            torch.addmm(bias, x, y, beta=0.5, alpha=2),
            torch.addmm(full, x, y, beta=0, alpha=0.25),
            full.addmm(x, y, beta=-1.5),
            z,
            torch.addmm(bias[0], x, y, alpha=3),
            torch.baddbmm(full[None], x[None], y[None], beta=0.1, alpha=10),
            torch.addmv(bias, y.t(), x[0], beta=3, alpha=2),
            torch.addr(full[0], x[0, :1], y[0], beta=0.5, alpha=2),
        )


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(4, 3)
        self.two = nn.Linear(4, 3, bias=False)
        self.both = nn.Bilinear(4, 4, 2)

    def forward(self, x: Tensor):
        return self.one(x), self.two(x), self.both(x, x), self.one(x[:, None]), self.two(x[0])


class Mean(nn.Module):
    def forward(self, x: Tensor, flag: Tensor):
        return (
            x.mean(),
            torch.mean(x, 1),
            x.mean((0, 2)),
            x.mean(-1, keepdim=True),
            torch.mean(x, dim=[1, 2], keepdim=True),
            flag.float().mean(0),
            x.mean(dtype=torch.float64),
            x.mean((-2, -3)),
            torch.var_mean(x, 1)[1],
            x.std(2),
            x.var((0, 2), unbiased=False),
        )


class Sum(nn.Module):
    """Also of integers and booleans, which sum to int64."""

    def forward(self, x: Tensor, count: Tensor, flag: Tensor):
        return (
            x.sum(),
            torch.sum(x, 1),
            x.sum((0, 2), keepdim=True),
            count.sum(),
            count.to(torch.int32).sum(1),
            flag.sum(),
            flag.sum(-1),
            x.sum(0, dtype=torch.float64),
            x.sum(()),
            torch.cumsum(x, 1),
            torch.cumsum(count, 0),
            torch.logsumexp(x, 1),
            x.norm(dim=1),
            torch.count_nonzero(count, dim=1),
            x.nansum(),
        )


class Prod(nn.Module):
    def forward(self, x: Tensor, count: Tensor, flag: Tensor):
        return (
            x.prod(),
            torch.prod(x, 1),
            x.prod(-1, keepdim=True),
            count.prod(0),
            count.to(torch.int32).prod(2),
            count[:, :2, 0].prod(),
            flag.prod(1),
            x.prod(2, dtype=torch.float64),
        )


class CumProd(nn.Module):
    def forward(self, x: Tensor, count: Tensor):
        return torch.cumprod(x, 1), count.cumprod(0)


class Maximum(nn.Module):
    """Of all, of two, along a dim with indices; with ties the first place wins or not: values."""

    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        values, places = x.max(1)
        lowest, where = torch.min(x, dim=-1, keepdim=True)
        return (
            x.max(),
            values,
            places,
            torch.max(x, y),
            x.maximum(y),
            count.max(),
            torch.max(count, 1)[0],
            torch.amax(x, (0, 2)),
            x.min(),
            lowest,
            where,
            torch.min(x, y),
            torch.minimum(x, y),
            count.min(),
            torch.min(count, 0)[0],
            torch.amin(x, -1, True),
            torch.aminmax(x, dim=0)[1],
            torch.fmax(x, y),
        )


class Extremes(nn.Module):
    def forward(self, x: Tensor):
        return x.argmax(1), x.argmin(-1), x.argmax(), torch.topk(x, 2, dim=1)[0], x.sort(1)[0]


class AllAny(nn.Module):
    def forward(self, flag: Tensor, count: Tensor):
        return flag.all(), flag.any(1), torch.all(count, dim=1), torch.any(count), flag.all(0, True)


class LongReductions(nn.Module):
    """Of all numbers of a long list, whose plain sums in float32 are off by 1e-5 and more."""

    def forward(self, x: Tensor):
        return x.sum(), x.mean(), x.var(), x.logsumexp(0), x[:, None].logsumexp(0, keepdim=True)
