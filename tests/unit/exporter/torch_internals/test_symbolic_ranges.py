"""`range` of a model's code, while it is captured: of sizes a tensor can be made of it."""

# mypy: ignore-errors

from __future__ import annotations

import sys

import pytest
import torch
from torch import LongTensor, nn

from modelexport_exporter.decompositions.capture.tensors_of_sizes import as_tensor
from modelexport_exporter.decompositions.replaced_calls import capturing_calls
from modelexport_exporter.torch_internals.symbolic_numbers import sizes_stay_symbolic
from modelexport_exporter.torch_internals.symbolic_ranges import SizeRange
from modelexport_exporter.torch_internals.typed_tensors import typed_tensors_of_sizes

HERE = sys.modules[__name__]
X = torch.randn(2, 5)


class Positions(nn.Module):
    def forward(self, x):  # noqa: ANN001
        n = x.shape[1]
        return (
            torch.tensor(range(n)),
            torch.as_tensor(range(n - 1, -1, -1), dtype=torch.int32),
            torch.tensor(range(n, n + 3)),
            LongTensor(range(1, 2 * n, 3)),
            torch.tensor(range(4)),
        )


class Chunks(nn.Module):
    def forward(self, x):  # noqa: ANN001
        n = x.shape[1]
        whole = [x[:, begin : begin + n] * 2 for begin in range(0, n, n)]
        y = torch.zeros(n, n)
        y[range(n), range(n - 1, -1, -1)] = 1
        return torch.cat(whole), x[0][range(n)], x[range(2), range(n - 2, n)], y


class Sum(nn.Module):
    def forward(self, x):  # noqa: ANN001
        total = 0
        for i in range(x.shape[1]):
            total = total + x[:, i]
        return total


def exported(model: nn.Module, sizes: object) -> torch.export.ExportedProgram:
    with (
        capturing_calls(()),
        typed_tensors_of_sizes([HERE], as_tensor),
        sizes_stay_symbolic([HERE]),
    ):
        return torch.export.export(model, (X,), dynamic_shapes=({1: sizes},))


@pytest.mark.parametrize("size", [4, 5, 9])
def test_a_tensor_of_a_range_has_the_numbers_of_each_size(size: int) -> None:
    program = exported(Positions(), torch.export.Dim.DYNAMIC)
    x = torch.randn(2, size)
    for found, expected in zip(program.module()(x), Positions()(x), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("size", [2, 5, 9])
def test_a_loop_with_as_many_steps_at_all_sizes_has_sizes(size: int) -> None:
    program = exported(Chunks(), torch.export.Dim.DYNAMIC)
    x = torch.randn(2, size)
    for found, expected in zip(program.module()(x), Chunks()(x), strict=True):
        torch.testing.assert_close(found, expected)


def test_a_loop_has_the_examples_steps() -> None:
    program = exported(Sum(), torch.export.Dim.AUTO)
    torch.testing.assert_close(program.module()(X), Sum()(X))


def test_of_numbers_it_is_pythons() -> None:
    assert SizeRange(2, 9, 3) == range(2, 9, 3)
    assert isinstance(range(3), SizeRange)
    with pytest.raises(TypeError, match="float"):
        SizeRange(1.5)
