"""Reshapes that copy at most sizes, and can be views where a map has one row."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.export import Dim, ExportedProgram

from modelexport_exporter.torch_internals.reshapes import can_view, copies_narrow_no_size
from modelexport_exporter.torch_internals.symbolic_sizes import deferred_conditions
from unit.exporter.torch_internals.exporting import exported

RESHAPE = torch.ops.aten.reshape.default
FLATTEN = torch.ops.aten.flatten.using_ints


class Tokens(nn.Module):
    """Rows of a map, which lies channels last, as tokens of a window each."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        maps = torch.nn.functional.avg_pool2d(x, 4)
        b, c, h, w = maps.shape
        rows = maps.permute(0, 2, 1, 3).reshape(b, h * c, w)
        return rows, maps.permute(0, 3, 1, 2).flatten(2)


def export(height: int, width: int) -> ExportedProgram:
    dims = {2: Dim("h", min=4, max=20), 3: Dim("w", min=4, max=20)}
    return exported(Tokens(), torch.randn(2, 3, height, width), dims)


@pytest.mark.parametrize(("height", "width"), [(4, 8), (8, 4), (4, 4)])
def test_a_capture_holds_where_there_is_one_row(height: int, width: int) -> None:
    with pytest.raises(torch._dynamo.exc.UserError, match=r"Constraints violated|Specializations"):
        export(height, width)
    with copies_narrow_no_size():
        program = export(height, width)
    for h, w in ((4, 4), (4, 20), (20, 4), (20, 20), (11, 13)):
        x = torch.randn(2, 3, h, w)
        torch.testing.assert_close(program.module()(x), Tokens()(x))


class OnlyMultiples(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mT.reshape(x.shape[0], -1, 4, 2)


def test_sizes_that_do_not_divide_stay_a_condition() -> None:
    with copies_narrow_no_size():
        program = exported(OnlyMultiples(), torch.randn(3, 8, 1), {1: Dim("n", min=2, max=20)})
    (symbol,) = map(str, program.range_constraints)
    texts = [text for (text, _), _ in deferred_conditions(program)]
    sizes = range(2, 21)
    kept = [n for n in sizes if all(eval(text, {symbol: n}) for text in texts)]
    assert kept == [8, 16]


class WritesThroughAView(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        y.reshape(x.shape[0], -1, 2)[..., 0] += 1
        return y


def test_what_is_a_view_at_all_sizes_stays_one() -> None:
    with copies_narrow_no_size():
        program = exported(WritesThroughAView(), torch.randn(3, 8), {0: Dim("n", min=1, max=20)})
    x = torch.randn(5, 8)
    torch.testing.assert_close(program.module()(x), WritesThroughAView()(x))


@pytest.mark.parametrize("op", [RESHAPE, FLATTEN])
def test_the_kernels_end_with_the_block(op: OpOverload) -> None:
    before = dict(op.py_kernels)
    with copies_narrow_no_size():
        with copies_narrow_no_size():
            pass
        assert dict(op.py_kernels) != before
    assert dict(op.py_kernels) == before


@given(st.data())
def test_a_view_is_what_torch_takes_for_one(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    order = data.draw(st.permutations(range(len(shape))))
    x = torch.zeros(shape).permute(*order)
    cut = data.draw(st.integers(0, x.dim() - 1))
    wanted = [*x.shape[:cut], x.shape[cut:].numel()]
    halves = [2, wanted[-1] // 2] if wanted[-1] % 2 == 0 and data.draw(st.booleans()) else []
    wanted = [*wanted[:-1], *halves] if halves else wanted
    with nullcontext() if can_view(x.shape, x.stride(), wanted) else pytest.raises(RuntimeError):
        x.view(wanted)
