"""What torch.onnx sets around a capture, and how sizes are written."""

from __future__ import annotations

import torch
from torch import nn

from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags
from modelexport_exporter.torch_internals.symbolic_sizes import size_expression


def test_model_sees_that_it_is_exported() -> None:
    assert not torch.onnx.is_in_onnx_export()
    with set_onnx_export_flags(dynamic=True):
        assert torch.onnx.is_in_onnx_export()
    assert not torch.onnx.is_in_onnx_export()


def test_size_expressions_are_those_of_torch() -> None:
    batch = torch.export.Dim("batch", max=8)
    program = torch.export.export(
        nn.Linear(2, 2), (torch.randn(3, 2),), dynamic_shapes=({0: batch},)
    )
    shape = next(node for node in program.graph.nodes if node.name == "input").meta["val"].shape
    assert size_expression(shape[0]).startswith("s")
    assert size_expression(shape[1]) == "2"
