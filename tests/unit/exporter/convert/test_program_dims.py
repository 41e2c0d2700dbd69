"""Inputs that a capture makes constant are no inputs that the manifest declares wrongly."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import nn

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.convert.program_dims import check_numbers_kept
from modelexport_exporter.core.errors import ExportFailure


class Repeated(nn.Module):
    def forward(self, x: torch.Tensor, k: int, scale: torch.Tensor | None = None) -> torch.Tensor:
        for _ in range(k):
            x = x * 2
        return x if scale is None else x * scale


def spec_with(*inputs: Mapping[str, object]) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "s3://models/m.pt"},
            "model": {"factory": "m:M"},
            "destination": {"uri": "s3://models/out/"},
            "inputs": list(inputs),
        }
    )


X = {"name": "x", "shape": [3]}


def test_a_number_that_the_graph_keeps() -> None:
    program = torch.export.export(Repeated(), (torch.ones(3), 2))
    spec = spec_with(X, {"name": "k", "kind": "Int", "range": [0, 20]})
    with pytest.raises(
        ExportFailure, match=r"input k: .* keeps the one of the capture, 2"
    ) as caught:
        check_numbers_kept(program, spec)
    assert caught.value.reason is Reason.CAPTURE_FAILED


def test_inputs_that_are_not_given_are_no_numbers() -> None:
    program = torch.export.export(Repeated(), (torch.ones(3), 0, torch.ones(3)))
    check_numbers_kept(program, spec_with(X, {"name": "scale", "shape": [3]}))
