"""Comparing operators first makes the optimizer faster and does not change its result."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import onnx_ir as ir
import onnxscript.optimizer
import pytest
import torch
from onnxscript.rewriter import _matcher

from modelexport_exporter.torch_internals.onnxscript_matcher import (
    compare_constants_exactly,
    compare_operators_first,
)
from zoo.code.vision.digits import Digits


def unoptimized() -> ir.Model:
    torch.manual_seed(0)
    program = torch.export.export(Digits().eval(), (torch.randn(3, 1, 8, 8),))
    converted = torch.onnx.export(program, dynamo=True, optimize=False, verbose=False)
    assert converted is not None
    return converted.model


def test_result_is_the_same() -> None:
    results = []
    for shortcut in (nullcontext(), compare_operators_first()):
        model = unoptimized()
        before = len(list(model.graph))
        with shortcut:
            onnxscript.optimizer.optimize_ir(model)
        assert len(list(model.graph)) < before
        results.append(ir.to_proto(model).SerializeToString(deterministic=True))
    assert results[0] == results[1]


def test_full_match_runs_less_than_200_times(monkeypatch: pytest.MonkeyPatch) -> None:
    model = unoptimized()
    attempts = []
    full_match = _matcher.SimplePatternMatcher._match_single_output_node

    def counted(*args: Any, **options: Any) -> Any:  # noqa: ANN401
        attempts.append(1)
        return full_match(*args, **options)

    monkeypatch.setattr(_matcher.SimplePatternMatcher, "_match_single_output_node", counted)
    with compare_operators_first():
        onnxscript.optimizer.optimize_ir(model)
    assert 0 < len(attempts) < 200


def test_patch_of_onnxscript_ends_with_its_block() -> None:
    before = _matcher.SimplePatternMatcher.match
    with compare_operators_first():
        assert _matcher.SimplePatternMatcher.match is not before
    assert _matcher.SimplePatternMatcher.match is before


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("added", "factor", "nodes"),
    [(0.0, 1.0, 0), (1e-9, 1.0, 1), (0.0, 1.000005, 1), (-1e-12, 0.999999, 2)],
)
def test_only_the_numbers_0_and_1_are_removed(
    added: float, factor: float, nodes: int, dtype: torch.dtype
) -> None:
    class Scaled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x + added) * factor

    program = torch.export.export(Scaled(), (torch.ones(3, dtype=dtype),))
    converted = torch.onnx.export(program, dynamo=True, optimize=False, verbose=False)
    assert converted is not None
    with compare_constants_exactly():
        onnxscript.optimizer.optimize_ir(converted.model)
    kinds = [node.op_type for node in converted.model.graph]
    assert len([kind for kind in kinds if kind in {"Add", "Mul"}]) == nodes
