"""A condition on a quotient of sizes is no obstacle to a capture."""

from __future__ import annotations

import pytest
import torch
from torch.fx.proxy import TraceError

from modelexport_exporter.torch_internals.asserted_quotients import quotients_are_asserted


class Rated(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * min(1.0, 32 / x.shape[0])


def captured() -> torch.export.ExportedProgram:
    return torch.export.export(
        Rated(),
        (torch.ones(40),),
        dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
        prefer_deferred_runtime_asserts_over_guards=True,
    )


def test_conditions_on_quotients_are_written_into_the_graph() -> None:
    with quotients_are_asserted():
        program = captured()
    x = torch.arange(64.0)
    assert torch.equal(program.module()(x), x * 0.5)
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        program.module()(x[:20])


def test_torch_still_needs_it() -> None:
    with pytest.raises(TraceError):
        captured()
