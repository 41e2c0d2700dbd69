"""Captures of models with loops over sizes: one graph, right at all sizes."""

# mypy: ignore-errors

from __future__ import annotations

import sys

import pytest
import torch
from torch import nn
from torch.export import Dim

from modelexport_exporter.convert.size_choices import choices_as_arithmetic
from modelexport_exporter.decompositions.replaced_calls import capturing_calls
from modelexport_exporter.torch_internals.memory_formats import memory_formats_narrow_no_size
from modelexport_exporter.torch_internals.reshapes import copies_narrow_no_size
from modelexport_exporter.torch_internals.symbolic_numbers import sizes_stay_symbolic
from unit.exporter.torch_internals.exporting import exported

HERE = sys.modules[__name__]
SIZES = range(1, 12)


class Model(nn.Module):
    def __init__(self):  # noqa: ANN204
        super().__init__()
        torch.manual_seed(0)
        self.cell = nn.GRUCell(4, 4)
        self.weight = nn.Parameter(torch.randn(4, 4))
        self.gain = nn.Parameter(torch.rand(4))


class Recurrent(Model):
    def forward(self, x):  # noqa: ANN001
        h, outs = x.new_zeros(x.shape[0], 4), []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            outs.append(h)
        return torch.stack(outs, dim=1), outs[-1], h


class FirstStepApart(Model):
    def forward(self, x):  # noqa: ANN001
        h, outs = None, []
        for i, row in enumerate(x.unbind(1)):
            h = self.cell(row) if h is None else self.cell(row, h)
            if i == 0:
                h = h * 2
            outs.append(h.unsqueeze(1))
        return torch.cat(outs, 1), outs[-1]


class Backwards(Model):
    def forward(self, x):  # noqa: ANN001
        h, outs, steps = x[:, 0], [], reversed(range(x.shape[1]))
        for t in steps:
            h = torch.tanh(h @ self.weight + x[:, t])
            outs += [h]
        outs.reverse()
        return torch.stack(outs[::-1]), torch.stack(outs).sum(0)


class FromTheSecond(Model):
    def forward(self, x):  # noqa: ANN001
        outs = [x[:, 0]]
        for t in range(1, x.shape[1]):
            outs.append(self.gain * x[:, t] + (1 - self.gain) * outs[-1])
        return torch.stack(outs, 1), outs[-1]


class Written(Model):
    def forward(self, x):  # noqa: ANN001
        y, h, state = torch.zeros_like(x), torch.zeros_like(x[:, 0]), {"n": x[:, 0] * 0}
        for t in range(x.shape[1]):
            h.mul_(0.5).add_(x[:, t])
            y[:, t] = h
            y[:, t, 1:3] += 1.0
            state["n"] = state["n"] + h
        return y, state["n"]


class Nested(Model):
    def forward(self, x):  # noqa: ANN001
        rows = []
        for i in range(x.shape[1]):
            total = torch.zeros_like(x[:, 0])
            for j in range(x.shape[1]):
                total = total + torch.tanh(x[:, i] * x[:, j])
            rows.append(total)
        best = x[:, 0]
        for row in rows:
            best = torch.maximum(best, row @ self.weight)
        return torch.stack(rows, 1), best


class Listed(Model):
    def forward(self, x):  # noqa: ANN001
        each = [row @ self.weight for row in x.split(1, dim=1)]
        both = tuple(a * b.squeeze(1) for a, b in zip(x.unbind(1), each, strict=True))
        return torch.cat(each, 1), torch.stack(both) * len(both)


class LookingBack(Model):
    def forward(self, x):  # noqa: ANN001
        outs, position = [], 0
        for t in range(x.shape[1]):
            past = x[:, : t + 1]
            outs.append((torch.softmax(past.sum(-1), -1).unsqueeze(-1) * past).sum(1) + position)
            position += 2
        return torch.stack(outs)


class Pairs(Model):
    def forward(self, x):  # noqa: ANN001
        outs, last = [], x[:, 0]
        for row in x.transpose(0, 1):
            last = row * 2
            outs.append((last, last + 1))
            outs.append((last - 1, last))
        return torch.stack([a + b for a, b in outs]), last


class Counted(Model):
    def forward(self, x):  # noqa: ANN001
        outs = [x[:, t] for t in range(x.shape[1])]
        return torch.stack(outs).sum(0) / len(outs)


class Turned(Model):
    """Carries a tensor whose rows do not lie one after the other, at first."""

    def forward(self, x):  # noqa: ANN001
        h, outs = torch.zeros(4, 2).t(), []
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] + h @ self.weight)
            outs.append(h)
        return torch.stack(outs, 1), h


class While(Model):
    def forward(self, x):  # noqa: ANN001
        outs, h, t = [x[:, 0]], x[:, 0], 1
        while t < x.shape[1]:
            h = torch.tanh(h @ self.weight) + x[:, t]
            outs.append(h)
            t += 1
        return torch.stack(outs, 1), h * t


class Fresh(Model):
    """`step` is a number first, and is assigned before it is read; `last` is used afterwards."""

    def forward(self, x):  # noqa: ANN001
        previous, outs, last = None, [], x[:, 0] * 3
        for row in x.unbind(1):
            step = 0 if previous is None else row - previous
            last = row * 2
            outs.append(last + step)
            previous = row
        return torch.stack(outs), last


def export(module):  # noqa: ANN001
    with (
        torch.no_grad(),
        capturing_calls(()),
        memory_formats_narrow_no_size(),
        copies_narrow_no_size(),
        choices_as_arithmetic([HERE]),
        sizes_stay_symbolic([HERE]),
    ):
        return exported(module, torch.randn(2, 6, 4), {1: Dim("n", min=1, max=12)})


@pytest.mark.parametrize(
    "model",
    [
        Recurrent,
        FirstStepApart,
        Backwards,
        FromTheSecond,
        Written,
        Nested,
        Listed,
        LookingBack,
        Pairs,
        Counted,
        Turned,
        While,
        Fresh,
    ],
)
def test_one_step_is_right_for_all_numbers_of_steps(model) -> None:  # noqa: ANN001
    module = model().eval()
    program = export(module)
    assert any(node.target is torch.ops.higher_order.scan for node in program.graph.nodes)
    for n in SIZES:
        x = torch.randn(2, n, 4)
        with torch.no_grad():
            torch.testing.assert_close(program.module()(x), module(x))


class Growing(Model):
    def forward(self, x):  # noqa: ANN001
        whole = x[:, :1]
        for t in range(x.shape[1]):
            whole = torch.cat([whole, x[:, t : t + 1]], 1)
        return whole


class Repeated(Model):
    def forward(self, x):  # noqa: ANN001
        rows = torch.cat([self.gain.unsqueeze(0)] * x.shape[1], dim=0)
        both = torch.stack(x.shape[1] * [self.gain, self.gain * 2])
        return x * rows, both, len([0] * 3)


def test_a_list_that_is_repeated_is_one_tensor() -> None:
    module = Repeated().eval()
    program = export(module)
    for n in SIZES:
        x = torch.randn(2, n, 4)
        with torch.no_grad():
            torch.testing.assert_close(program.module()(x), module(x))


class Summed(Model):
    def forward(self, x):  # noqa: ANN001
        return sum([x[:, t] for t in range(x.shape[1])])


@pytest.mark.parametrize("model", [Growing, Summed])
def test_other_steps_are_refused(model) -> None:  # noqa: ANN001
    with pytest.raises(Exception):  # noqa: B017, PT011 - torch's own kinds
        export(model().eval())
