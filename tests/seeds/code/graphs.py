"""Graphs of nodes and edges, as libraries for them write their layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Degrees(nn.Module):
    """Neighbours of nodes, whose ids wrap around."""

    def forward(self, nodes: Tensor, edges: Tensor) -> tuple[Tensor, ...]:
        count = nodes.shape[0]
        degrees = torch.zeros(count).index_add(0, edges % count, torch.ones(edges.shape[0]))
        return nodes * degrees[:, None], edges & count, nodes % count


class Readout(nn.Module):
    """Means, maxima and a table of the nodes of each graph: as many as the largest id says."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(6) + 0.5)

    def forward(self, x: Tensor, owner: Tensor) -> tuple[Tensor, ...]:
        owner, _ = owner.sort()
        graphs = int(owner.max()) + 1
        count = torch.bincount(owner, minlength=graphs)
        mean = torch.zeros(graphs, 6).index_add_(0, owner, x) / count.clamp(min=1)[:, None]
        y = x - mean[owner] * self.scale
        lowest = y.new_full((graphs, 6), -torch.inf)
        top = lowest.scatter_reduce(0, owner[:, None].expand_as(y), y, reduce="amax")
        place = torch.arange(x.shape[0]) - (count.cumsum(0) - count)[owner]
        width = int(count.max())
        table = y.new_zeros(graphs * width, 6)
        table[owner * width + place] = y
        return mean, torch.where(top.isinf(), 0.0, top), table.view(graphs, width, 6), count


class Cells(nn.Module):
    """The mean of the points in each cell of a grid, and the cells; which codes there are."""

    def forward(self, points, codes, flags):
        cells = torch.floor(points / 0.5).int()
        found, cell, count = torch.unique(cells, dim=0, return_inverse=True, return_counts=True)
        sums = torch.zeros(len(found), 3).index_add_(0, cell, points)
        kinds, kind = torch.unique(codes, return_inverse=True)
        return sums / count[:, None], found, kinds, kind, flags.unique(), (flags > 3).unique()


class ReadoutByCounts(nn.Module):
    """Sums the nodes of each graph in a loop over the counts of nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(4, 3)

    def forward(self, x: Tensor, owner: Tensor) -> Tensor:
        counts: list[int] = torch.bincount(owner).tolist()
        sums, begin = [], 0
        for count in counts:
            sums.append(self.score(x[begin : begin + count]).sum(0))
            begin += count
        return torch.stack(sums)
