"""Sizes of one dim in their simplest form: the same at all sizes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.export import Dim
from torch.fx.experimental.sym_node import SymNode

from modelexport_exporter.convert.size_expressions import values_at
from modelexport_exporter.torch_internals.simple_sizes import sizes_in_simple_form, steps_of
from unit.exporter.torch_internals.exporting import exported

STEPS = st.tuples(st.integers(1, 6), st.integers(-40, 40), st.integers(1, 12), st.integers(-9, 9))


def at(n: int, steps: tuple[int, int, int, int]) -> int:
    height, shift, length, offset = steps
    return height * ((n + shift) // length) + offset


@given(STEPS, st.integers(1, 9), st.integers(0, 60))
def test_steps_are_found(steps: tuple[int, int, int, int], first: int, count: int) -> None:
    sizes = range(first, first + count + 1)
    values = [at(n, steps) for n in sizes]
    found = steps_of(values, first)
    assert found is not None
    assert [at(n, found) for n in sizes] == values


@pytest.mark.parametrize(
    "values", [[1, 2, 4], [1, 1, 2, 2, 2, 3, 3, 4], [1, 2, 1], [0, 1, 1, 1, 2, 3]]
)
def test_what_are_no_steps_is_left(values: list[int]) -> None:
    assert steps_of(values, 3) is None


class Levels(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        for _ in range(3):
            x = nn.functional.pad(x, (0, (4 - n % 4) % 4))[:, ::2]
            n = x.shape[1]
        rows = torch.sym_int(x.numel() / (n / 2 / 2))
        return x.reshape(rows // 4, n)


def size_of(program: torch.export.ExportedProgram, axis: int) -> Any:  # noqa: ANN401
    (output,) = [node for node in program.graph.nodes if node.op == "output"]
    return output.args[0][0].meta["val"].shape[axis]


def test_sizes_of_levels_are_steps() -> None:
    x = torch.randn(3, 37)
    dims = {0: Dim("b", min=1, max=8), 1: Dim("n", min=5, max=90)}
    with sizes_in_simple_form(values_at):
        program = exported(Levels(), x, dims)
    size = size_of(program, 1)
    assert size.node.expr.count_ops() <= 4, size
    for n in (5, 8, 9, 33, 64, 90):
        y = torch.randn(3, n)
        torch.testing.assert_close(program.module()(y), Levels()(y))


def test_patch_ends_with_its_block() -> None:
    before = SymNode.__init__
    with sizes_in_simple_form(values_at):
        assert SymNode.__init__ is not before
    assert SymNode.__init__ is before
