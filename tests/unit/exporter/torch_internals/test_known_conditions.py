"""Captures of sizes that are equal at every declared size, and that torch cannot compare."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from modelexport_exporter.convert.size_expressions import at_all_sizes
from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags
from modelexport_exporter.torch_internals.known_conditions import conditions_at_all_sizes
from modelexport_exporter.torch_internals.symbolic_sizes import deferred_conditions

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


def export(module: nn.Module, most: int) -> torch.export.ExportedProgram:
    dims = ({0: torch.export.Dim("b", max=9), 1: torch.export.Dim("n", min=3, max=most)},)
    with set_onnx_export_flags(dynamic=True):
        return torch.export.export(
            module,
            (X,),
            dynamic_shapes=dims,
            strict=False,
            prefer_deferred_runtime_asserts_over_guards=True,
        )


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
