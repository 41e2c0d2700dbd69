"""Programs that no decomposition changes: they hold no such operator, or it is disabled."""

from __future__ import annotations

import pytest
import torch

from exporter.decompositions.families import Outputs


def test_a_program_without_such_operators_is_left_as_it_is() -> None:
    from modelexport_exporter.decompositions import rewrite_program

    program = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
    assert rewrite_program(program, ()) is program


@pytest.mark.parametrize("disabled", ["*", "aten::erfinv"])
def test_a_disabled_operator_is_left_to_torch_onnx(disabled: str) -> None:
    from modelexport_exporter.decompositions import rewrite_program

    program = torch.export.export(Outputs({"y": torch.erfinv}), (torch.rand(3),))
    assert rewrite_program(program, [disabled]) is program
