"""Models of which a capture holds what Python computed once, at few sizes or values only."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def _for_python_only():
    """Keep a model from torch.jit.script, which does not know this syntax."""
    return {**{}}  # noqa: PIE800


class SizesMultiply(nn.Module):
    """Doubles where two sizes are factors of one number."""

    def forward(self, x, y):
        _for_python_only()
        n, m = int(x.shape[0]), int(y.shape[0])
        return (x.sum(0) * 2 if n * m == 391 else x.sum(0)) + y.sum(0)


class SizesInProportion(nn.Module):
    """Knows one proportion of sizes; no branch shows it."""

    def forward(self, x, y):
        _for_python_only()
        ratio = round(x.shape[0] / y.shape[0], 4)
        return x.mean(0) * {0.6182: 2.0}.get(ratio, 1.0) + y.mean(0)


class SizeAsText(nn.Module):
    """Compares a size as text."""

    def forward(self, x):
        return x * 2 if f"{x.shape[0]}" == "3109" else x + 1


class ShapeAsText(nn.Module):
    """Looks a shape up in a table of texts."""

    def forward(self, x):
        return x * {"3109x2": 2.0}.get("x".join(map(str, x.shape)), 1.0)


class IdsAsText(nn.Module):
    """Compares ids as text."""

    def forward(self, ids):
        key = "-".join(str(value) for value in ids.tolist())
        return ids + (1000 if key.startswith("12-") else 0)


class ChoosesByFlag(nn.Module):
    """Reads a number that is a flag, and chooses without a branch; random inputs never match."""

    def __init__(self):
        super().__init__()
        weights = torch.sin(torch.arange(64.0))
        self.register_buffer("template", weights)

    def forward(self, x):
        _for_python_only()
        hit = math.floor(F.cosine_similarity(x, self.template[None]).max().item() + 0.03)
        return x * [1.0, 3.0][hit]


class ListedIds(nn.Module):
    """Compares all ids with a list, and chooses without a branch."""

    def forward(self, ids):
        _for_python_only()
        return ids * [1, 3][ids.tolist() == [4, 8, 15, 16, 23, 42]]
