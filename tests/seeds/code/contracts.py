"""Models whose output shapes converters state wrongly, or not at all."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class SpeechStep(nn.Module):
    """A scripted step over chunks of speech, with a state of a stream for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(8, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x: Tensor, state: Tensor, context: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = torch.cat([context, x], dim=1)
        h, c = self.cell(x, (state[0], state[1]))
        if bool((x.abs().max() > 2).item()):
            h = h * 0.5
        new_state = torch.stack([h, c])
        return torch.sigmoid(self.out(torch.relu(h))), new_state, x[:, -2:]


class LoopedState(nn.Module):
    """A loop whose state begins as zeros for the batch."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        state = torch.zeros(x.size(0), 1)
        for step in range(int(x.size(1))):
            if bool((x[:, step].sum() > 0).item()):
                state = torch.tanh(state + x[:, step : step + 1])
        return state, x * 2


class Repeats(nn.Module):
    """Rows are appended in a loop: twice and one more."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        doubled = x
        for _ in range(int(x.size(0))):
            doubled = torch.cat([doubled, x[:1]])
        return doubled, torch.cat([doubled, x[:1]])


class BranchOfOtherShape(nn.Module):
    """One branch has two rows more than the other."""

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(x)
        if bool((x.sum() > 0).item()):
            y = torch.cat([y, x[:2]])
        return y


class JoinedInALoop(nn.Module):
    """Two inputs are joined by a loop, so that a size is a sum of two dims."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        joined = x
        for row in range(int(y.size(0))):
            joined = torch.cat([joined, y[row : row + 1]])
        return joined


class Positive(nn.Module):
    """As many rows as there are positive numbers."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.nonzero(x > 0), x + 1


class Found(nn.Module):
    """The rows that begin with a positive number, where they are, and the others."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        found = x[:, 0] > 0
        return x[found], torch.nonzero(found), x[~found]


class Halves(nn.Module):
    """Every other row, twice the columns, and both dims in one."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x[::2], torch.cat([x, x], dim=1), x.reshape(-1)


class Squeezed(nn.Module):
    """Squeezes all dims of size 1: torch.onnx declares the shape of its example."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        probability = torch.sigmoid(x.mean(dim=1, keepdim=True))
        return torch.squeeze(probability), torch.squeeze(x).reshape(-1, 1) + 0
