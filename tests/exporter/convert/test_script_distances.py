"""Distances of a scripted model, whose sizes the TorchScript exporter does not know."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from modelexport_exporter.convert.script_symbolics import script_symbolics


class Distances(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[1] > 100:
            x = x * 2
        return torch.cdist(x, y, self.p)


@pytest.mark.parametrize("opset", [15, 20])
@pytest.mark.parametrize("p", [2.0, 1.0, 0.0, 3.0, math.inf])
def test_a_point_is_0_away_from_itself(p: float, opset: int, tmp_path: Path) -> None:
    module, file = torch.jit.script(Distances(p).eval()), tmp_path / "model.onnx"
    names = {"x": {0: "b", 1: "n"}, "y": {0: "b", 1: "m"}}
    with torch.no_grad(), script_symbolics():
        torch.onnx.export(
            module, (torch.randn(2, 5, 3), torch.randn(2, 4, 3)), str(file), dynamo=False,
            opset_version=opset, input_names=["x", "y"], dynamic_axes=names,
        )  # fmt: skip
    x = torch.randn(2, 7, 3, generator=torch.Generator().manual_seed(0)) * 2000
    y = torch.cat([x[:, :2], torch.randn(2, 9, 3) * 2000], 1)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    [found] = session.run(None, {"x": x.numpy(), "y": y.numpy()})
    np.testing.assert_allclose(found, module(x, y).numpy(), rtol=1e-5)
    assert (found[:, [0, 1], [0, 1]] == 0).all()
