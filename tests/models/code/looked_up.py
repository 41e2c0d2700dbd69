"""Models that look rows up, whose files tests damage in one row."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot

ROWS = 50_000


class _Embedding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(ROWS, 8)


class Plain(_Embedding):
    """The table as it is."""

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.table(ids)
        return out


class Scaled(_Embedding):
    """Arithmetic on the whole table."""

    def forward(self, ids: Tensor) -> Tensor:
        return (self.table.weight * 2 + 1)[ids]


class Normed(_Embedding):
    """Rows of length one."""

    def forward(self, ids: Tensor) -> Tensor:
        return normalize(self.table.weight, dim=-1)[ids]


class Heavy(_Embedding):
    """The same in front of layers that take most of the time."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 1024)
        self.layers = nn.ModuleList([nn.Linear(1024, 1024) for _ in range(6)])

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        rows = (self.table.weight * 2 + 1)[ids]
        hidden = self.first(rows)
        for layer in self.layers:
            hidden = torch.relu(layer(hidden))
        return rows, hidden


class Integers(nn.Module):
    """A table of integers of 300,000 rows, more than each integer is tried of."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.register_buffer("map", torch.randint(0, 1000, (300_000,), generator=generator))

    def forward(self, ids: Tensor) -> Tensor:
        return self.get_buffer("map")[ids]


class Brief(nn.Module):
    """A table of bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("table", torch.randn(ROWS, 4).bfloat16())

    def forward(self, ids: Tensor) -> Tensor:
        return self.get_buffer("table")[ids].float()


class Drawn(nn.Module):
    """A table that is a constant of forward only."""

    def __init__(self) -> None:
        super().__init__()
        self.values = torch.randn(ROWS, 4, generator=torch.Generator().manual_seed(0))

    def forward(self, ids: Tensor) -> Tensor:
        return torch.sin(self.values)[ids]


class Mapped(_Embedding):
    """Ids that another table maps first."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("order", torch.randperm(ROWS))

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.table(self.get_buffer("order")[ids])
        return out


class Fields(nn.Module):
    """Columns of categories, each with its own part of one table."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(3 * ROWS, 4)
        self.register_buffer("starts", torch.tensor([0, ROWS, 2 * ROWS]))

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.table(ids + self.get_buffer("starts")).sum(1)
        return out


class Cells(nn.Module):
    """A table of rows and columns, of which two inputs pick a cell."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cells = nn.Parameter(torch.randn(200, 300))

    def forward(self, row: Tensor, column: Tensor) -> Tensor:
        return self.cells[row, column]


class OneHot(nn.Module):
    """Rows of a product with a matrix."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Parameter(torch.randn(5000, 4))

    def forward(self, ids: Tensor) -> Tensor:
        return one_hot(ids, 5000).float() @ self.table
