"""A slice whose bound may be on either side of zero has a size that code can decide by."""

from __future__ import annotations

import pytest
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from modelexport_exporter.torch_internals.slice_bounds import slices_of_known_sizes
from modelexport_exporter.torch_internals.symbolic_sizes import treat_0_and_1_as_any_size


class Cut(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        cut = x[: n - 10]
        return cut * 2 if cut.shape[0] < 100 else cut


def captured() -> torch.export.ExportedProgram:
    with treat_0_and_1_as_any_size():
        return torch.export.export(
            Cut(),
            (torch.ones(30),),
            dynamic_shapes=({0: torch.export.Dim.AUTO},),
            prefer_deferred_runtime_asserts_over_guards=True,
        )


@pytest.mark.parametrize("size", [3, 6, 10, 11, 30, 60])
def test_it_has_the_size_that_python_gives(size: int) -> None:
    with slices_of_known_sizes():
        program = captured()
    given = torch.rand(size)
    assert torch.equal(program.module()(given), Cut()(given))


def test_torch_still_needs_it() -> None:
    with pytest.raises(GuardOnDataDependentSymNode):
        captured()
