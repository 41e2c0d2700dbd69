"""Comparisons at opset 11, which has no operator for `>=`: NaN is not smaller, and not larger."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from modelexport_exporter.convert.script_symbolics import script_symbolics

NAN, INF = math.nan, math.inf


class Comparisons(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.flip(x, [0])
        booleans = torch.ge(x > 1, y > 1), torch.le(x > 1, y > 1)
        return torch.stack([x >= 1, x <= 1, x >= y, x <= y, booleans[0], booleans[1]])


@pytest.mark.parametrize("scripted", [False, True])
@pytest.mark.parametrize(
    "x", [torch.tensor([NAN, 1.0, -INF, INF, 0.5, NAN]), torch.tensor([1, 2, -3, 4])]
)
def test_comparisons(x: torch.Tensor, scripted: bool, tmp_path: Path) -> None:
    model = torch.jit.script(Comparisons()) if scripted else Comparisons()
    file = tmp_path / "model.onnx"
    with torch.no_grad(), script_symbolics():
        torch.onnx.export(model, (x,), str(file), dynamo=False, opset_version=11, input_names=["x"])
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {"x": x.numpy()})
    np.testing.assert_array_equal(got, model(x).numpy())
