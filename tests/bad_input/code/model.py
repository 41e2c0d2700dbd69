"""Small models, as users write them."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layer = nn.Linear(width, 2)

    def forward(self, x):
        return self.layer(x)


class Embeds(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 8)

    def forward(self, ids):
        return self.table(ids).sum(1)


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x, mask):
        return self.layer(x, src_key_padding_mask=mask)


class Convolves(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv1d(1, 4, 5)

    def forward(self, x):
        return self.layer(x).mean(-1)


def build(width=8):
    return Net(width)


def sampler(dims, seed):
    return {"x": torch.zeros(dims["batch"], 8)}


class Masks(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x, mask):
        scores = (self.layer(x) @ x.transpose(1, 2)).masked_fill(mask[:, None, :] == 0, -torch.inf)
        return scores.softmax(-1) @ x
