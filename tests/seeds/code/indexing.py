"""Reads and writes with every kind of index."""

import torch
from torch import Tensor, nn


class Read(nn.Module):
    """Constant integers, slices, None, Ellipsis, lists and tuples."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("places", torch.tensor([2, 0, 1]))
        self.register_buffer("grid", torch.tensor([[0, 1], [2, 2]]))

    def forward(self, x: Tensor):
        return (
            x[0],
            x[:, -1],
            x[:, 1, 2],
            x[..., 0],
            x[:, None, 1],
            x[:, 1:3],
            x[:, ::2, 1:-1],
            x[:, [0, 2]],
            x[:, (1, 0)],
            x[:, self.places],
            x[:, self.grid],
            x[:, self.places, self.places],
            x[:, self.grid, self.places[:2]],
            x[:, 1, [4, 0]],
            x[0, :, [1, 2]],
            x[:, torch.tensor([True, False, True])],
            x[-1:],
            x[:, :, -3:],
            x[:, torch.tensor(1)],
            x[(slice(None), 2)],
            x[[0, 0]],
            x[0, 1, 2],
        )


class ReadByInput(nn.Module):
    """The index is an input."""

    def forward(self, x: Tensor, places: Tensor):
        return (
            x[places],
            x[:, places],
            x[places, places],
            x[places, :, places],
            x[:, places[0]],
            x.index_select(0, places),
        )


class TakeAlong(nn.Module):
    def forward(self, x: Tensor, places: Tensor):
        return torch.take_along_dim(x, places[:, None, None], 0)


class ReadByMask(nn.Module):
    """How many are taken depends on the values."""

    def forward(self, x: Tensor):
        mask = x > 0
        return x[mask], x.masked_select(x < -0.5), x.masked_fill(mask, -1), torch.nonzero(mask)


class ReadByMaskOfRows(nn.Module):
    def forward(self, x: Tensor, flag: Tensor) -> Tensor:
        return x[flag] * 2


class NegativeRead(nn.Module):
    """The pattern of the documents: indices that include negative values."""

    def forward(self, x: Tensor):
        return x[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])], x[:, torch.tensor([-1])]


class NegativeReadByInput(nn.Module):
    def forward(self, x: Tensor, places: Tensor):
        return x[places], x[:, places], x[places, places], x[torch.tensor([0, -1]), places[:2]]


class WriteRankTwo(nn.Module):
    """Several indices, one of rank 2."""

    def forward(self, x: Tensor, new: Tensor) -> Tensor:
        data = x.clone()
        data[torch.tensor([[1, 2], [2, 0]]), torch.tensor([2, 3])] = new
        return data


class WriteRankTwoByPut(nn.Module):
    def forward(self, x: Tensor, new: Tensor, places: Tensor):
        grid = torch.stack([places[:2], places[1:3]])
        return (
            x.index_put((grid, torch.tensor([2, 3])), new),
            x.index_put((torch.zeros(2, 2).long(), grid), new, accumulate=True),
        )


class WriteApart(nn.Module):
    """Indices that are not consecutive: the indexed dims come first."""

    def forward(self, x: Tensor, new: Tensor) -> Tensor:
        data = x.clone()
        data[torch.tensor([2, 0]), :, torch.tensor([1, 2])] = new
        return data


class WriteApartByInput(nn.Module):
    def forward(self, x: Tensor, new: Tensor, places: Tensor) -> Tensor:
        data = x * 2
        data[places[:2], :, torch.tensor([4, 0])] += new
        return data


class WriteNegative(nn.Module):
    def forward(self, x: Tensor, new: Tensor) -> Tensor:
        data = x.clone()
        data[torch.tensor([1, -2]), torch.tensor([-2, 3])] = new
        return data


class WriteNegativeByInput(nn.Module):
    def forward(self, x: Tensor, new: Tensor, places: Tensor):
        data = x.clone()
        data[places[:2]] = new
        other = x.clone()
        other[:, -1] = places.sum()
        other[-1] = -1
        return data, other


class WriteBroadcast(nn.Module):
    """new is smaller than what it replaces: [5] for [2, 2, 2, 5]."""

    def forward(self, x: Tensor, new: Tensor) -> Tensor:
        data = x.clone()
        data[torch.tensor([[0, 2], [1, 1]]), 1:3] = new
        return data


class WriteBroadcastOtherwise(nn.Module):
    def forward(self, x: Tensor, new: Tensor, flag: Tensor):
        a, b, c = x.clone(), x.clone(), x.clone()
        a[:, torch.tensor([0, 2])] = new
        b[flag] = 0.5
        c[:, 1:3, ::2] = new[::2]
        return a, b, c


class WriteSlices(nn.Module):
    def forward(self, x: Tensor, new: Tensor):
        a, b, c, d, e = x.clone(), x.clone(), x.clone(), x.clone(), x.clone()
        a[:, 1] = new
        b[:, :, 1:4] = 7
        c[:, ::2] += 1
        d[0] = d[1] * 2 if d.dim() == 2 else d[0] * 3
        e[..., -1] = e[..., 0]
        e[:, 0, 0].mul_(3)
        e.select(1, 2).fill_(-1)
        return a, b, c, d, e


class WriteDynamicSlice(nn.Module):
    """Up to half of a dynamic dim."""

    def forward(self, x: Tensor) -> Tensor:
        data = x.clone()
        half = x.size(0) // 2
        data[:half] = 0
        data[half:] += 1
        return data


class WriteMask(nn.Module):
    def forward(self, x: Tensor, flag: Tensor):
        a, b, c = x.clone(), x.clone(), x.clone()
        a[a > 0.5] = 0
        b[flag] = b[flag] * 2
        c.masked_fill_(c < 0, -9.0)
        return a, b, c


class WriteInput(nn.Module):
    """Changes its own input, and returns it."""

    def forward(self, x: Tensor):
        before = x.sum()
        x[:, 0] = 5
        x.add_(1)
        return x * 2, x.sum() - before


class WriteScatter(nn.Module):
    def forward(self, x: Tensor, places: Tensor):
        rows = places[:, None].expand(-1, x.size(1))
        ones = torch.ones_like(rows, dtype=x.dtype)
        return (
            x.scatter(0, rows, ones),
            x.scatter(0, rows, 3.0),
            x.scatter_add(0, rows, ones),
            x.index_add(0, places, ones),
            x.index_fill(1, torch.tensor([0, 2]), -1),
            x.index_copy(0, torch.tensor([1]), x[:1]),
            x.scatter_reduce(0, rows, ones * 2, reduce="amax"),
            x.index_put((places,), torch.tensor(2.0)),
            x.index_put((places,), ones, accumulate=True),
        )
