"""torch.export, as the product calls it."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram

from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags


def exported(module: torch.nn.Module, x: torch.Tensor, dims: dict[int, Any]) -> ExportedProgram:
    """Return the program of `module(x)`, whose dims of these places are dynamic."""
    with set_onnx_export_flags(dynamic=True):
        return torch.export.export(
            module,
            (x,),
            dynamic_shapes=(dims,),
            strict=False,
            prefer_deferred_runtime_asserts_over_guards=True,
        )
