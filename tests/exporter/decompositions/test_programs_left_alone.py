"""What torch.onnx translates: no operator of the library, unless it is disabled."""

from __future__ import annotations

import pytest
import torch

from exporter.decompositions.families import Outputs

OPSET = 20


@pytest.mark.parametrize(
    ("disabled", "is_left"),
    [((), False), (("*",), True), (("aten::diagonal",), True), (("aten::expm1",), False)],
)
def test_a_disabled_operator_is_left_to_torch_onnx(
    disabled: tuple[str, ...], is_left: bool
) -> None:
    from modelexport_exporter.decompositions import decomposing
    from modelexport_exporter.torch_internals.translation import decompose

    program = torch.export.export(Outputs({"y": torch.diagonal}), (torch.rand(3, 3),))
    with decomposing(disabled):
        targets = {node.target for node in decompose(program, OPSET).graph.nodes}
    assert (torch.ops.aten.diagonal.default in targets) is is_left


def test_a_program_without_complex_numbers_stays() -> None:
    from modelexport_exporter.decompositions import prepared

    program = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
    assert prepared(program, ()) is program
