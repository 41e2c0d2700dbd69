"""Models of which a capture holds what Python computed once, at few sizes or values only."""

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


class AspectRatio(nn.Module):
    """Flips images of one proportion: two comparisons of floats, one inside of the other."""

    def forward(self, x):
        ratio = x.shape[0] / x.shape[1]
        return x.flip(1) if 1.77 < ratio < 1.78 else x


class SizesOnLines(nn.Module):
    """Doubles at one pair of sizes of 16 million."""

    def forward(self, x, y):
        n, m = x.shape[0], y.shape[0]
        scale = 2 if 3 * n + 5 * m == 20001 and n - m == 1003 else 1
        return x.sum() * scale + y.sum()


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


class WakeWord(nn.Module):
    """Computes with numbers of Python where a signal is like the template, which noise never is."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("template", torch.sin(torch.arange(16.0) ** 2))

    def forward(self, x):
        if bool(F.cosine_similarity(x, self.template[None]).max() > 0.9):
            level = float(x.sum())
            return x * (level // 0.3) + level % 0.3
        return x * 2


def scripted_wake_word():
    """Return the model as a script."""
    return torch.jit.script(WakeWord())


class WakeWordByCond(WakeWord):
    """The same with torch.cond, and a side that is translated correctly."""

    def forward(self, x):
        near = F.cosine_similarity(x, self.template[None]).max() > 0.9
        return torch.cond(near, lambda x: torch.round(x * 3), lambda x: x * 2, (x,))


class NeverBySum(nn.Module):
    """A side that no sample takes but by accident."""

    def forward(self, x):
        rare = (x.sum() * 1e6) % 7 == 0.123456
        return torch.cond(rare, lambda x: x.sort(0)[0], lambda x: x * 2, (x,))


class ListedIds(nn.Module):
    """Compares all ids with a list, and chooses without a branch."""

    def forward(self, ids):
        _for_python_only()
        return ids * [1, 3][ids.tolist() == [4, 8, 15, 16, 23, 42]]


class TableOfIds(nn.Module):
    """Looks two ids up in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.table = {(4, 8): 3, (15, 16): 7}

    def forward(self, ids):
        _for_python_only()
        first, second, *_ = ids.tolist()
        return ids * self.table.get((first, second), 1)


class ValueAndSize(nn.Module):
    """Decides by a value and a size together."""

    def forward(self, x, a):
        _for_python_only()
        if a == 41 and x.shape[0] % 13 == 5:
            return x * 2
        return x


class SizeBehindValues(nn.Module):
    """Decides by a size where values are large."""

    def forward(self, x):
        _for_python_only()
        if x.mean() > 2:  # noqa: SIM102 - a branch inside of a branch
            if x.shape[0] == 13:
                return x.flip(0)
        return x


class WritesLog(nn.Module):
    """Reads numbers for a log only."""

    def forward(self, x):
        _for_python_only()
        text = f"largest {x.max().item():.3f}"
        return x * 2 if text else x
