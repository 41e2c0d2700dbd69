"""Functions under names of onnxruntime's operators: it leaves them unread, and others run them."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, parser
from onnx.reference import ReferenceEvaluator

from modelexport_exporter.onnx_file.shadowed_operators import shadowed_operators

MODEL = """<ir_version: 10, opset_import: ["" : 20, "{domain}" : 1]>
net (float[n] x) => (float[n] y) {{ y = {domain}.{name} (x) }}"""


@pytest.mark.parametrize(
    ("function", "shadows"),
    [
        ("::Relu", True),
        ("ai.onnx::Relu", True),
        ("ai.onnx.ml::Scaler", True),
        ("com.microsoft::Gelu", True),
        ("com.microsoft::OfMine", False),
        ("mine::Relu", False),
        ("pkg.onnxscript.torch_lib::aten_relu", False),
        ("::OfMine", False),
    ],
)
def test_by_domain_and_name(function: str, *, shadows: bool) -> None:
    assert shadowed_operators([function, "mine::Other"]) == [function] * shadows


def test_what_is_refused_has_two_meanings() -> None:
    model = parser.parse_model(MODEL.format(domain="com.microsoft", name="Gelu"))
    body, opset = [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 20)]
    model.functions.append(helper.make_function("com.microsoft", "Gelu", ["a"], ["b"], body, opset))
    onnx.checker.check_model(model, full_check=True)
    feed = {"x": np.array([1, -2], np.float32)}
    (by_runtime,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    (by_function,) = ReferenceEvaluator(model).run(None, feed)
    assert not np.allclose(by_runtime, by_function)
