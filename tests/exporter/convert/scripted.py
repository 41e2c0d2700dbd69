"""What onnxruntime computes of a module that TorchScript's exporter wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import torch
from torch import nn

from modelexport_exporter.convert.script_symbolics import script_symbolics


def computed(module: nn.Module, x: torch.Tensor, file: Path) -> list[np.ndarray]:
    with torch.no_grad(), script_symbolics():
        torch.onnx.export(
            torch.jit.script(module), (x,), str(file), dynamo=False, opset_version=20,
            input_names=["x"],
        )  # fmt: skip
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x.numpy()})  # type: ignore[no-any-return]
