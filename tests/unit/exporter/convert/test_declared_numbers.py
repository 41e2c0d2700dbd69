"""Numbers that enter as float32 and are computed with as float64."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import TensorProto, helper

from modelexport_exporter.convert.declared_numbers import with_single_precision


def model() -> ir.Model:
    """Return y = x · scale, with a double of scale that is an output too."""
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["scale"], ["single"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["x", "single"], ["y"]),
            helper.make_node("Add", ["scale", "scale"], ["twice"]),
        ],
        "graph",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"]),
            helper.make_tensor_value_info("scale", TensorProto.DOUBLE, []),
        ],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"]),
            helper.make_tensor_value_info("twice", TensorProto.DOUBLE, []),
        ],
    )
    return ir.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    )


@pytest.mark.parametrize(("names", "dtype"), [(["scale"], np.float32), ([], np.float64)])
def test_the_declared_dtype(names: list[str], dtype: type) -> None:
    changed = ir.to_proto(with_single_precision(model(), names))
    onnx.checker.check_model(changed, full_check=True)
    session = onnxruntime.InferenceSession(
        changed.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feeds = {"x": np.arange(3, dtype=np.float32), "scale": np.array(2.5, dtype=dtype)}
    y, twice = session.run(None, feeds)
    assert y.tolist() == [0.0, 2.5, 5.0]
    assert (twice.item(), twice.dtype) == (5.0, np.float64)
