"""Comparing operators first makes the optimizer faster and does not change its result."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import onnx_ir as ir
import onnxscript.optimizer
import pytest
import torch
from onnxscript.rewriter import _matcher

from modelexport_exporter.torch_internals.onnxscript_matcher import compare_operators_first
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
