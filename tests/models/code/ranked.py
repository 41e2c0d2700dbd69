"""Models that rank values of which many are equal."""

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot


class SparseScores(nn.Module):
    """The ten largest of scores that are mostly zero."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(8, 32)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = torch.relu(self.score(x) - 0.5).topk(20, sorted=False)
        return values, places


class Votes(nn.Module):
    """Candidates in the order of their votes, some of which have none."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        votes = one_hot((x.abs() * 3).long().clamp(max=11), 12).sum(1)
        return votes.topk(5).indices, votes.argsort(descending=True), votes.sort(1).indices
