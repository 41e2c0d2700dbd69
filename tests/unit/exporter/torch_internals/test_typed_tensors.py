"""Constructors of old code make tensors of sizes, and are themselves of anything else."""

# mypy: ignore-errors

from __future__ import annotations

import sys

import pytest
import torch
import torch._dynamo
from torch import FloatTensor, nn

from modelexport_exporter.decompositions.capture.tensors_of_sizes import as_tensor
from modelexport_exporter.torch_internals.typed_tensors import typed_tensors_of_sizes

HERE = sys.modules[__name__]
ANY = torch.export.Dim.DYNAMIC


class OfSizes(nn.Module):
    def forward(self, x):  # noqa: ANN001
        h, w = x.shape
        return (
            torch.Tensor([h, w, h, w]),
            torch.Tensor((h / 2, 3)),
            torch.LongTensor([[h, w], [h // 2, 0]]),
            FloatTensor([h - 1, w]),
            torch.DoubleTensor([[w]]),
            torch.Tensor(h, 3).fill_(2),
            torch.ByteTensor(w).zero_(),
            torch.Tensor(x.shape).zero_(),
        )


class OfOthers(nn.Module):
    def forward(self, x):  # noqa: ANN001
        isinstance(x, FloatTensor)
        return (
            x.type(torch.LongTensor) + torch.LongTensor([1]),
            x.type(torch.DoubleTensor) * torch.Tensor([0.5]),
            x + torch.Tensor(2, 3).zero_().sum(),
        )


@pytest.mark.parametrize("module", [OfSizes(), OfOthers()], ids=["sizes", "others"])
def test_a_capture_holds_for_other_sizes(module) -> None:  # noqa: ANN001
    with typed_tensors_of_sizes([HERE], as_tensor):
        program = torch.export.export(
            module, (torch.ones(3, 4),), dynamic_shapes=({0: ANY, 1: ANY},), strict=False
        )
    for size in ((3, 4), (7, 5)):
        x = torch.full(size, 2.5)
        for got, want in zip(program.module()(x), module(x), strict=True):
            torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_while_they_are_replaced_they_stay_types() -> None:
    x = torch.ones(2)
    with typed_tensors_of_sizes([], as_tensor):
        assert isinstance(x, torch.Tensor)
        assert isinstance(x, torch.FloatTensor)
        assert not isinstance(x, torch.LongTensor)
        assert x.type() == torch.FloatTensor
        assert isinstance(nn.Parameter(torch.Tensor([1.0])), nn.Parameter)
        assert torch.HalfTensor([1]).dtype is torch.float16


def test_nothing_is_left() -> None:
    before, plain = dict(vars(torch)), FloatTensor
    with typed_tensors_of_sizes([HERE], as_tensor):
        assert HERE.FloatTensor is not plain
    assert HERE.FloatTensor is plain
    assert vars(torch) == before
    assert "__new__" not in vars(torch.Tensor)
    assert torch.Tensor([1.5]).tolist() == [1.5]
