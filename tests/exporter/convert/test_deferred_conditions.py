"""Conditions on sizes that torch.export leaves out of its graph are guards all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.convert.size_guards import conditions_of, find_size_guards
from modelexport_exporter.torch_internals.symbolic_sizes import deferred_conditions

SPEC = ModelExportSpec.model_validate(
    {
        "source": {"uri": "s3://bucket/model.pt"},
        "model": {"factory": "model:build"},
        "inputs": [{"name": "x", "shape": ["h", "w"]}],
        "dims": {"h": {"min": 2, "max": 60}, "w": {"min": 2, "max": 60}},
        "destination": {"uri": "s3://bucket/out/"},
    }
)


class Rule(torch.nn.Module):
    def __init__(self, holds: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.holds = holds

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if self.holds(x.shape[0], x.shape[1]) else x


@pytest.mark.parametrize(
    ("holds", "example"),
    [
        (lambda h, w: 1.77 < h / w < 1.78, {"h": 16, "w": 9}),
        (lambda h, _: h * 0.7 >= 40.5, {"h": 60}),
        (lambda h, w: h * 0.7 >= 90 or h * w == 391, {"h": 17, "w": 23}),
    ],
)
def test_sizes_that_fail(holds: Callable[[Any, Any], Any], example: dict[str, int]) -> None:
    dims = {name: torch.export.Dim(name, min=2, max=60) for name in ("h", "w")}
    program = torch.export.export(
        Rule(holds),
        (torch.ones(5, 7),),
        dynamic_shapes=({0: dims["h"], 1: dims["w"]},),
        prefer_deferred_runtime_asserts_over_guards=True,
    )
    symbols = next(iter(program.graph.nodes)).meta["val"].shape
    names = {str(symbols[0]): "h", str(symbols[1]): "w"}
    deferred = tuple(deferred_conditions(program))
    guards = find_size_guards(list(conditions_of(program, names, None, deferred)), SPEC)
    assert any(example in guard.others for guard in guards)
    assert all(len(guard.sizes) <= 4 for guard in guards)
