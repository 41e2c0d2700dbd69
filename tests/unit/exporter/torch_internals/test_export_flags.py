"""The private parts of torch that are used are still where they were."""

from __future__ import annotations

import torch
from torch import nn

from modelexport_exporter.torch_internals.export_flags import capturing_for_onnx
from modelexport_exporter.torch_internals.symbolic_sizes import size_expression


def test_models_can_tell_that_they_are_exported() -> None:
    assert not torch.onnx.is_in_onnx_export()
    with capturing_for_onnx(dynamic=True):
        assert torch.onnx.is_in_onnx_export()
    assert not torch.onnx.is_in_onnx_export()


def test_sizes_are_written_as_torch_writes_them() -> None:
    batch = torch.export.Dim("batch", max=8)
    program = torch.export.export(
        nn.Linear(2, 2), (torch.randn(3, 2),), dynamic_shapes=({0: batch},)
    )
    shape = next(node for node in program.graph.nodes if node.name == "input").meta["val"].shape
    assert size_expression(shape[0]).startswith("s")
    assert size_expression(shape[1]) == "2"
