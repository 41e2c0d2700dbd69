"""Captures of sizes that are equal at every declared size, and that torch cannot compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from modelexport_exporter.convert.size_expressions import at_all_sizes
from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags
from modelexport_exporter.torch_internals.known_conditions import (
    conditions_at_all_sizes,
    conditions_narrow_no_size,
)
from modelexport_exporter.torch_internals.symbolic_sizes import deferred_conditions
from unit.exporter.torch_internals.exporting import exported

X = torch.arange(22.0).reshape(2, 11)


class Subsampled(nn.Module):
    """A mask by slices beside windows: both are halves, in other words."""

    def forward(self, x: Tensor) -> Tensor:
        windows = x.unfold(1, 3, 2).sum(-1)
        return windows.masked_fill(x[:, :-2:2] > 8, 0.0)


class Windows(nn.Module):
    """Windows of 4, the last one padded."""

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        x = F.pad(x, (0, (4 - n % 4) % 4))
        return x.view(x.shape[0], x.shape[1] // 4, 4).mean(-1)


@pytest.mark.parametrize(
    ("truth", "known"),
    [
        (lambda u: u - torch.sym_min(1, u) >= 0, True),
        (lambda u: torch.sym_max(u - 3, 0) < 0, False),
        (lambda u: 2 * u - torch.sym_min(u, 40) >= 0, True),
        # it holds from 41 on
        (lambda u: u - torch.sym_min(u, 40) > 0, None),
        (lambda u: u * u >= u, None),
        (lambda u: u // 2 <= u, None),
    ],
)
def test_conditions_on_a_number_without_a_bound(
    truth: Callable[[torch.SymInt], Any], known: bool | None
) -> None:
    environment = ShapeEnv()
    number = environment.create_unbacked_symint()
    torch._check(number >= 0)
    condition = truth(number)
    with conditions_at_all_sizes(at_all_sizes):
        found = environment._maybe_evaluate_static(condition.node.expr, size_oblivious=False)
    assert found == known if known is not None else found is None


def export(module: nn.Module, most: int) -> torch.export.ExportedProgram:
    dims = {0: torch.export.Dim("b", max=9), 1: torch.export.Dim("n", min=3, max=most)}
    return exported(module, X, dims)


@pytest.mark.parametrize(
    "module", [Subsampled(), Windows()], ids=lambda module: type(module).__name__
)
def test_a_capture_holds_for_all_sizes(module: nn.Module) -> None:
    with conditions_at_all_sizes(at_all_sizes):
        program = export(module, 300)
    assert not [text for (text, _), _ in deferred_conditions(program)]
    for n in (3, 4, 10, 299, 300):
        x = torch.arange(5.0 * n).reshape(5, n)
        assert torch.equal(program.module()(x), module(x))


def test_conditions_of_too_many_sizes_are_left_to_torch() -> None:
    asked: list[str] = []

    def decide(condition: str, sizes: Mapping[str, range]) -> bool | None:
        asked.append(condition)
        return at_all_sizes(condition, sizes)

    with conditions_at_all_sizes(decide):
        export(Windows(), 40)
        assert asked
        asked.clear()
        export(Windows(), 10**9)
    assert not [condition for condition in asked if "%" in condition]


class Pooled(nn.Module):
    """The mean of a feature map before its places: at 4 x 8 pixels it has one row."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(1, 16, 2, 2), nn.LayerNorm(16)
        self.second, self.last = nn.Conv2d(16, 16, 2, 2), nn.LayerNorm(16)

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(self.norm(self.first(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2))
        y = y + self.last(y.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return torch.cat([F.adaptive_avg_pool2d(y, 1).flatten(2), y.flatten(2)], 2)


@pytest.mark.parametrize("narrowed", [False, True])
def test_an_example_of_one_row_fixes_no_row_when_it_is_traced_again(narrowed: bool) -> None:
    module, x = Pooled(), torch.randn(2, 1, 4, 8)
    dims = {2: torch.export.Dim("h", min=4, max=20), 3: torch.export.Dim("w", min=4, max=20)}
    with conditions_at_all_sizes(at_all_sizes), set_onnx_export_flags(dynamic=True):
        program = exported(module, x, dims)
        with nullcontext() if narrowed else conditions_narrow_no_size():
            again = program.run_decompositions()
    (result,) = next(node for node in again.graph.nodes if node.op == "output").args[0]
    rows = [str(size) for size in result.meta["val"].shape if "//" in str(size)]
    assert rows
    assert all(text.count("//4") == (1 if narrowed else 2) for text in rows)


def test_conditions_on_numbers_without_a_value_are_kept() -> None:
    class First(nn.Module):
        def forward(self, x: Tensor, count: Tensor) -> Tensor:
            rows = count.item()
            torch._check(rows >= 0)
            torch._check(rows <= x.shape[1])
            return x[:, :rows] + 1

    program = torch.export.export(First(), (X, torch.tensor(3)), strict=False)
    with conditions_narrow_no_size():
        again = program.run_decompositions()
    assert torch.equal(again.module()(X, torch.tensor(5)), X[:, :5] + 1)
