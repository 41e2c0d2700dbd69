"""Small models, as users write them."""

import torch
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.layer = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.layer(x)
        return found


class Embeds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(100, 8)

    def forward(self, ids: Tensor) -> Tensor:
        found: Tensor = self.table(ids).sum(1)
        return found


class Convolves(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv1d(1, 4, 5)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.layer(x).mean(-1)
        return found


def build(width: int = 8) -> Net:
    return Net(width)


class Masks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scores = (self.layer(x) @ x.transpose(1, 2)).masked_fill(mask[:, None, :] == 0, -torch.inf)
        found: Tensor = scores.softmax(-1) @ x
        return found
