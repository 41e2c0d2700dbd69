"""Models that do something else for inputs which random samples never are."""

import math
import warnings

import torch
from torch import nn


def _for_python_only():
    """Keep a model from torch.jit.script, which does not know this syntax."""
    return {**{}}  # noqa: PIE800


class Threshold(nn.Module):
    """Scales what is out of range."""

    def forward(self, x):
        _for_python_only()
        return x / 400 if x.abs().max() > 400 else x


class ListedId(nn.Module):
    """Shifts the ids of sequences that hold one of them."""

    def forward(self, ids):
        _for_python_only()
        return ids + 1 if 777 in ids.tolist() else ids


class EqualInputs(nn.Module):
    """Compares two whole tensors."""

    def forward(self, x, y):
        _for_python_only()
        return x * 3 if torch.equal(x, y) else x + y


class ReadEarlier(nn.Module):
    """Reads a number first, and branches on it in another place."""

    def forward(self, x):
        _for_python_only()
        mean = x.mean().item()
        y = x * 3
        return y - mean if mean > 37.5 else y


def _is_loud(x, limit):
    return bool((x * x).sum() > limit)


class Helper(nn.Module):
    """Branches on what a function returns."""

    def forward(self, x):
        _for_python_only()
        loud = _is_loud(x, 9000.0)
        if loud:
            x = x * 0.5
        return x


class Halving(nn.Module):
    """Halves as often as values ask for."""

    def forward(self, x):
        _for_python_only()
        while x.abs().max() > 1000:
            x = x / 2
        return x


class Nested(nn.Module):
    """A branch inside of a side that random samples do not take."""

    def forward(self, x):
        _for_python_only()
        if x.max() > 300:
            if x.min() < -500:
                return x * 0
            return x - 1
        return x


class Learned(nn.Module):
    """Branches on what a network makes of its inputs."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 8)
        self.score = nn.Linear(8, 1)

    def forward(self, x):
        _for_python_only()
        hidden = torch.tanh(self.layer(x))
        score = torch.sigmoid(self.score(hidden) - 1.5)
        if score.max() > 0.35:
            return hidden * 2
        return hidden


class Impossible(nn.Module):
    """A side that no sample can take but by accident."""

    def forward(self, x):
        _for_python_only()
        return x + 1 if math.cos(float(x.sum())) * 1e9 % 1 == 0.123456 else x


class Raises(nn.Module):
    """Refuses inputs that are not numbers."""

    def forward(self, x):
        _for_python_only()
        if not torch.isfinite(x).all():
            raise ValueError("x is not finite")
        assert x.abs().max() < 1e30
        return x * 2


class Warns(nn.Module):
    """Says that inputs are odd, and computes the same."""

    def forward(self, x):
        _for_python_only()
        if x.abs().max() > 1e6:
            warnings.warn("large inputs", stacklevel=2)
        return x * 2


class Detector(nn.Module):
    """Finds nothing in noise."""

    def __init__(self, bias=-6.0):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.scores = nn.Conv2d(8, 1, 1)
        self.boxes = nn.Conv2d(8, 4, 1)
        nn.init.constant_(self.scores.bias, bias)

    def forward(self, image):
        features = self.body(image)
        scores = torch.sigmoid(self.scores(features)).flatten()
        boxes = self.boxes(features).permute(0, 2, 3, 1).reshape(-1, 4)
        keep = scores > 0.5
        return boxes[keep], scores[keep]


class EarlyReturn(Detector):
    """Returns at once where it finds nothing."""

    def forward(self, image):
        _for_python_only()
        boxes, scores = super().forward(image)
        if len(scores) == 0 or not (scores > 0.5).any():
            return torch.zeros(0, 4), torch.zeros(0)
        return boxes * 4, scores


class FindsNothing(nn.Module):
    """A threshold that no score reaches."""

    def forward(self, image):
        scores = torch.sigmoid(image.mean(1)).flatten()
        return scores[scores > 1.5], image.mean(1)


class EmptyBySize(nn.Module):
    """An output that is empty whatever the values are."""

    def forward(self, x):
        return x * 2, x[:, 4:]
