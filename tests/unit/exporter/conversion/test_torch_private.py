"""The private parts of torch that are used are still where they were."""

from __future__ import annotations

import torch
from torch import nn

from modelexport_exporter.conversion.torch_private import (
    capturing_for_onnx,
    size_expression,
    unsupported_operators,
)


class Nested(nn.Module):
    """Has an operator without a translation inside a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Module()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        branch: torch.Tensor = torch.cond(x.sum() > 0, torch.special.ndtri, lambda y: y + 1, (x,))
        other: torch.Tensor = torch.special.i0e(x)
        return branch + other


def test_models_can_tell_that_they_are_exported() -> None:
    assert not torch.onnx.is_in_onnx_export()
    with capturing_for_onnx(dynamic=True):
        assert torch.onnx.is_in_onnx_export()
    assert not torch.onnx.is_in_onnx_export()


def test_all_unsupported_operators_are_found() -> None:
    program = torch.export.export(Nested(), (torch.randn(3),))
    found = {operator.name: operator for operator in unsupported_operators(program, 20)}
    assert len(found) == 2
    assert any("ndtri" in name for name in found)
    assert any("i0e" in name for name in found)
    assert all("in forward" in operator.stack_trace for operator in found.values())


def test_sizes_are_written_as_torch_writes_them() -> None:
    batch = torch.export.Dim("batch", max=8)
    program = torch.export.export(
        nn.Linear(2, 2), (torch.randn(3, 2),), dynamic_shapes=({0: batch},)
    )
    shape = next(node for node in program.graph.nodes if node.name == "input").meta["val"].shape
    assert size_expression(shape[0]).startswith("s")
    assert size_expression(shape[1]) == "2"
