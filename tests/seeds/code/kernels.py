"""Models whose operators onnxruntime computes otherwise than torch, at limits and on nothing."""

import torch
import torch.nn.functional as F
from torch import nn


class Ledger(nn.Module):
    """Totals of accounts in cents and of times in milliseconds."""

    def forward(self, x):
        return (
            x.sum(-1),
            x.sum(),
            x.sum((0, 1), keepdim=True),
            x.prod(-1),
            x.amax(-1),
            x.amin(0),
            x.max(),
            x.max(-1).values,
            x.min(-1, keepdim=True).values,
        )


class Bounds(nn.Module):
    """Times that are kept between others."""

    def forward(self, x, y):
        return (
            torch.maximum(x, y),
            torch.minimum(x, y),
            x.clamp(-5, 2**33),
            x.clamp(min=2**31 + 1),
            x.clamp(max=7),
            torch.clamp(x, y, y + 10),
            x.sign(),
            F.relu(x),
        )


class Powers(nn.Module):
    """Hashes of identifiers."""

    def forward(self, x, n):
        return x**2, x**3, x.pow(7), torch.pow(x, n), 3**n, x.square()


class Hash(nn.Module):
    """The mean as statistics have it, and a polynomial hash that wraps."""

    def forward(self, x):
        hashed = (x * 1_000_003) ^ (x >> 7)
        return hashed.sum(-1), hashed.sum(-1) % 1024, x.double().mean(-1), torch.fmod(x, 1000)


class Evidence(nn.Module):
    """A forward algorithm: impossible states come first."""

    def forward(self, x, allowed):
        scores = x.masked_fill(~allowed, float("-inf"))
        return torch.logsumexp(scores, -1), scores.logsumexp((0, 1)), scores.logsumexp(0, True)


class Surprise(nn.Module):
    """The logarithm of a probability, written as in textbooks."""

    def forward(self, x):
        p = torch.sigmoid(x)
        return -torch.log(p), -torch.log(p[:, 0]), F.logsigmoid(x)


class Detections(nn.Module):
    """What is found is classified; nothing may be found."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        found = x[x[:, 0] > 0.5]
        scores = self.head(found)
        return (
            scores.argmax(-1),
            scores.max(-1).values,
            scores.sum(-1),
            scores.mean(-1, keepdim=True),
            scores.softmax(-1),
            found @ found.T,
            found.T @ found,
            torch.linalg.vector_norm(found, dim=-1),
        )


class Average(nn.Module):
    """The mean of what is found: NaN of nothing."""

    def forward(self, x):
        found = x[x[:, 0] > 0.5]
        return found.mean(0), found.mean(), found.sum(0) / found.shape[0]


class Sampler(nn.Module):
    """Pixels at positions that lie between two."""

    def __init__(self, padding="reflection", mode="nearest", corners=False):
        super().__init__()
        self.padding, self.mode, self.corners = padding, mode, corners

    def forward(self, image, grid):
        return F.grid_sample(image, grid, self.mode, self.padding, self.corners)
