"""The line of a model that makes a size constant is found where torch.export runs it."""

from __future__ import annotations

import math

import torch

from modelexport_exporter.convert.fixed_sizes import lines_that_fix_sizes


class Logarithm(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * math.log(len(x))


class Double(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.size(0)


def export(module: torch.nn.Module) -> list[str]:
    dims = ({0: torch.export.Dim("n", min=2, max=9)},)
    with lines_that_fix_sizes(None) as lines:
        try:
            torch.export.export(module, (torch.ones(3, 4),), dynamic_shapes=dims)
        except Exception:  # noqa: BLE001 - the dim is constant
            assert lines
    return [str(line) for line in lines]


def test_the_line_is_found() -> None:
    (line,) = export(Logarithm())
    assert "test_fixed_sizes.py:" in line
    assert line.endswith("in forward: return x * math.log(len(x))")


def test_a_size_that_stays_free_is_not_listed() -> None:
    assert export(Double()) == []
