"""Cells of recurrent networks in a scripted loop over a dynamic length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from modelexport_exporter.convert.script_symbolics import script_symbolics


class WithHidden(nn.Module):
    def __init__(self, cell: nn.Module) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(x.shape[0], 6)
        out = []
        for i in range(x.shape[1]):
            h = self.cell(x[:, i], h)
            out.append(h)
        return torch.stack(out, 1)


class WithCell(WithHidden):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, c = torch.zeros(x.shape[0], 6), torch.zeros(x.shape[0], 6)
        out = []
        for i in range(x.shape[1]):
            h, c = self.cell(x[:, i], (h, c))
            out.append(h)
        return torch.stack(out, 1)


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(WithHidden(nn.GRUCell(8, 6)), id="GRUCell"),
        pytest.param(WithHidden(nn.GRUCell(8, 6, bias=False)), id="GRUCell without bias"),
        pytest.param(WithHidden(nn.RNNCell(8, 6)), id="RNNCell tanh"),
        pytest.param(WithHidden(nn.RNNCell(8, 6, nonlinearity="relu")), id="RNNCell relu"),
        pytest.param(WithCell(nn.LSTMCell(8, 6)), id="LSTMCell"),
    ],
)
def test_a_scripted_cell_computes_what_eager_computes(module: nn.Module, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    with torch.no_grad(), script_symbolics():
        torch.onnx.export(
            torch.jit.script(module.eval()),
            (torch.randn(2, 5, 8),),
            str(file),
            dynamo=False,
            opset_version=20,
            input_names=["x"],
            dynamic_axes={"x": {0: "batch", 1: "seq"}},
        )
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    x = torch.randn(4, 9, 8)
    with torch.no_grad():
        expected = module(x).numpy()
    np.testing.assert_allclose(session.run(None, {"x": x.numpy()})[0], expected, atol=1e-5)


def test_the_registry_is_left_as_it_was() -> None:
    from torch.onnx._internal.torchscript_exporter import registration

    with script_symbolics():
        assert registration.registry.is_registered_op("aten::gru_cell", 20)
    assert not registration.registry.is_registered_op("aten::gru_cell", 20)
