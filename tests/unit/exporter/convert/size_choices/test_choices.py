"""Captures of models that choose by sizes: one graph, right at all sizes."""

# mypy: ignore-errors

from __future__ import annotations

import functools
import sys

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.export import Dim

from modelexport_exporter.convert.size_choices import choices_as_arithmetic
from modelexport_exporter.convert.size_expressions import at_all_sizes
from modelexport_exporter.decompositions.replaced_calls import capturing_calls
from modelexport_exporter.torch_internals.known_conditions import conditions_at_all_sizes
from modelexport_exporter.torch_internals.reshapes import copies_narrow_no_size
from modelexport_exporter.torch_internals.symbolic_sizes import deferred_conditions
from unit.exporter.torch_internals.exporting import exported

HERE = sys.modules[__name__]
X = torch.randn(2, 3, 13)


class PaddedToMultiples(nn.Module):
    def forward(self, x):  # noqa: ANN001
        n = x.shape[-1]
        if n % 8 != 0:
            amount = 8 - n % 8
            x = F.pad(x, (0, amount))
        y = F.avg_pool1d(x, 4, 4)
        return F.interpolate(y, scale_factor=4)[..., :n]


class PaddedByAnExpression(nn.Module):
    def forward(self, x):  # noqa: ANN001
        n = x.shape[-1]
        whole = ((n + 8) // 8) * 8
        padding = whole - n if n % 8 != 0 else 0
        return F.pad(x, (0, padding)).reshape(x.shape[0], 3, -1, 8).sum(-1)


class PaddedWhereOdd(nn.Module):
    """As U-Nets do that pool odd maps: an element of a list that has another name."""

    def forward(self, x):  # noqa: ANN001
        half = F.interpolate(x[..., : x.shape[-1] // 2 * 2 : 2], scale_factor=2.0)
        pads = [0, 0]
        known = pads
        for i in range(1):
            if x.shape[-1 - i] != half.shape[-1 - i]:
                pads[2 * i + 1] = 1
        return torch.cat([x, F.pad(half, known, "replicate")])


class WindowNoLargerThanTheMap(nn.Module):
    def forward(self, x):  # noqa: ANN001
        n, window, shift = x.shape[-1], [7, 2], [3]
        if n <= window[0]:
            window[0] = n
            shift[0] -= 3
        padded = F.pad(x, (0, -n % window[0]))
        return padded.unflatten(-1, (-1, window[0])).sum(-1) + shift[0]


class PaddedTwice(nn.Module):
    def forward(self, x):  # noqa: ANN001
        for _ in range(2):
            n = x.shape[-1]
            if n % 4 != 0:
                pads = (0, 4 - n % 4)
                x = F.pad(x, pads)
        if n % 3 == 1:
            pads = (0, 2, 0, 0)
            x = F.pad(x, pads)
        return x


class CroppedIfPadded(nn.Module):
    def forward(self, x):  # noqa: ANN001
        n = x.shape[-1]
        right = (4 - n % 4) % 4
        x = F.pad(x, (0, right))
        was_padded = right > 0 or n > 1000
        y = x.reshape(x.shape[0], 3, -1, 4).flip(-1).flatten(2)
        if was_padded:
            y = y[:, :, :n].contiguous()
        return y.view(x.shape[0], -1)


class BothSidesSet(nn.Module):
    def forward(self, x):  # noqa: ANN001
        n = x.shape[-1]
        if n > 10:
            left, right = 1, n - 10
        else:
            left, right = 0, 2
        return F.pad(x, (left, right))


class PaddedAsByTensorFlow(nn.Module):
    def forward(self, x):  # noqa: ANN001
        for kernel, stride in ((3, 2), (5, 3)):
            n = x.shape[-1]
            if n % stride == 0:  # noqa: SIM108
                whole = max(kernel - stride, 0)
            else:
                whole = max(kernel - (n % stride), 0)
            left = whole // 2
            x = F.avg_pool1d(F.pad(x, (left, whole - left)), kernel, stride)
        return x


def halved(function):  # noqa: ANN001
    @functools.wraps(function)
    def wrapper(*args):  # noqa: ANN002, ANN202
        return function(*args) / 2

    return wrapper


class Decorated(nn.Module):
    @halved
    def forward(self, x):  # noqa: ANN001
        kept = min(9, x.shape[-1])
        return x[..., :kept]


class NotReached(nn.Module):
    def forward(self, x, mask=None):  # noqa: ANN001
        causal = x.shape[-1] > 12 and mask is not None
        return x * 2 if causal else x * 3


def export(module, most=40):  # noqa: ANN001
    with (
        capturing_calls(()),
        copies_narrow_no_size(),
        conditions_at_all_sizes(at_all_sizes),
        choices_as_arithmetic([HERE]),
    ):
        return exported(module, X, {2: Dim("n", min=5, max=most)})


@pytest.mark.parametrize(
    "model",
    [
        PaddedToMultiples,
        PaddedByAnExpression,
        PaddedWhereOdd,
        WindowNoLargerThanTheMap,
        PaddedTwice,
        CroppedIfPadded,
        BothSidesSet,
        PaddedAsByTensorFlow,
        Decorated,
        NotReached,
    ],
)
def test_one_graph_is_right_at_all_sizes(model) -> None:  # noqa: ANN001
    program = export(model())
    assert not list(deferred_conditions(program))
    for n in range(5, 41):
        x = torch.randn(2, 3, n)
        torch.testing.assert_close(program.module()(x), model()(x))


class OtherValues(nn.Module):
    def forward(self, x):  # noqa: ANN001
        if x.shape[-1] > 10:
            x = x * 2
        return x


def test_what_computes_otherwise_is_decided_by_the_example() -> None:
    with pytest.raises(torch._dynamo.exc.UserError, match="Constraints violated"):
        export(OtherValues())


def test_functions_are_their_own_afterwards() -> None:
    before = PaddedToMultiples.forward.__code__
    with choices_as_arithmetic([HERE]):
        assert PaddedToMultiples.forward.__code__ is not before
        assert Decorated.forward.__wrapped__.__code__.co_filename == __file__
    assert PaddedToMultiples.forward.__code__ is before
    assert not [name for name in vars(HERE) if name.startswith("_modelexport")]
