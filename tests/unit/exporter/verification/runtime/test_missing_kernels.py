from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from modelexport_api.reasons import Reason
from modelexport_api.spec import Provider
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.verification.runtime.session import Session


@pytest.mark.parametrize(
    ("op", "element", "said", "advised"),
    [
        pytest.param(
            "Erf", TensorProto.BFLOAT16, "(its operands are of bfloat16)", "autocast", id="bfloat16"
        ),
        pytest.param(
            "Erf", TensorProto.DOUBLE, "(its operands are of double)", "in float32", id="float64"
        ),
    ],
)
def test_element_type_that_has_no_kernel_is_named(
    op: str, element: int, said: str, advised: str, tmp_path: Path
) -> None:
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], name="node")],
        "g",
        [helper.make_tensor_value_info("x", element, ("n", 3))],
        [helper.make_tensor_value_info("y", element, ("n", 3))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(ExportFailure) as caught:
        Session(tmp_path / "m.onnx", Provider.CPU)
    assert caught.value.reason is Reason.RUNTIME_FAILED
    assert said in str(caught.value)
    assert advised in caught.value.hint
