"""Loops of scripts: what they carry from round to round, and what they return."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from exporter.convert.scripted import Scripted
from modelexport_exporter.call import flatten


class TensorAfterTheFirst(nn.Module):
    """A float before the loop, a tensor of float32 in it."""

    def forward(self, x: Tensor) -> Tensor:
        total = 0.0
        for row in x:
            total = total - row.sum() * 10 if row[0] > 1 else total + row.sum()
        return x + total


class FloatThatDecides(nn.Module):
    """A float that is carried, in double: three times 0.1 is more than 0.3."""

    def forward(self, x: Tensor) -> Tensor:
        total, count = 0.0, 0
        for place in range(x.shape[0]):
            total = total + float(x[place, 0] > 0) * 0.1
            if total > 0.3:
                break
            count += 1
        return x * count


class Halves(nn.Module):
    """The condition of a loop is one of Python, too: float32 of 0.2 is twice more than 0.1."""

    def forward(self, x: Tensor) -> Tensor:
        value, rounds = x[0, 0].abs().item(), 0
        while value > 0.1:
            value = value * 0.5
            rounds += 1
        return x * rounds


class FloatAfterTheLoop(nn.Module):
    """The same float meets a tensor after the loop."""

    def forward(self, x: Tensor) -> Tensor:
        total = 0.0
        for place in range(x.shape[0]):
            total = total * 0.5 + float(x[place, 0] > 0)
        return x * total if total > 0.5 else x


class ReturnsEarly(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(3)
        for place in range(x.shape[0]):
            state = state * 0.5 + x[place]
            if (state > 1.0).any():
                return state * 0 - 1
        return state


class ReturnsTwo(nn.Module):
    """Returns the place and the share where a price falls below nine tenths of the highest."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        highest = x[0, 0]
        for place in range(x.shape[0]):
            highest = torch.maximum(highest, x[place, 0])
            if x[place, 0] < highest * 0.9:
                return torch.tensor(place), x[place, 0] / x[0, 0]
        return torch.tensor(-1000), x[-1, 0]


class ReturnsInHelper(nn.Module):
    """The loop that returns is one of a function; a number is what it returns."""

    def forward(self, x: Tensor) -> Tensor:
        return x * first_above(x, 0.5)


def first_above(x: Tensor, limit: float) -> int:
    for place in range(x.shape[0]):
        if x[place, 0] > limit:
            return place
    return -1


class BestPath(nn.Module):
    """Viterbi's algorithm: parts of lists that loops made, backwards and without their ends."""

    def forward(self, x: Tensor) -> Tensor:
        score, steps = x[0], []
        for row in x[1:]:
            score, step = (score[:, None] + row[None] * torch.eye(3)).max(0)
            steps.append(step)
        path = [score.argmax()]
        for step in steps[::-1]:
            path.append(step.gather(0, path[-1][None])[0])
        inner = torch.stack(path[:2]).sum() - torch.stack(path[-2:]).sum()
        return torch.stack(path[::-1]) * 10 + inner


@pytest.mark.parametrize(
    "module",
    [
        TensorAfterTheFirst(),
        FloatThatDecides(),
        FloatAfterTheLoop(),
        Halves(),
        ReturnsEarly(),
        ReturnsTwo(),
        ReturnsInHelper(),
        BestPath(),
    ],
    ids=lambda module: type(module).__name__,
)
def test_a_loop_answers_as_in_python(module: nn.Module, tmp_path: Path) -> None:
    torch.manual_seed(0)
    file = Scripted(module, torch.rand(4, 3), tmp_path / "m.onnx")
    for rows in (1, 2, 3, 5, 9):
        for x in (torch.rand(rows, 3), torch.randn(rows, 3), torch.full((rows, 3), 0.2)):
            wanted = [output.numpy() for output in flatten(module(x))]
            got = file.answers(x)
            assert [output.dtype for output in got] == [output.dtype for output in wanted]
            for one, other in zip(got, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
