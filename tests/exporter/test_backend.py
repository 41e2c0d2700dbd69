"""The ONNX backend API: as onnx's own tests call it, and as Caffe2's users did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.workers import onnx_backend as backend

NODE_CASES = (
    "test_add_bcast", "test_argmax_keepdims_example", "test_clip", "test_elu", "test_gather_1",
    "test_gemm_alpha", "test_lstm_with_peepholes", "test_maxpool_2d_ceil", "test_nonzero_example",
    "test_resize_upsample_scales_linear", "test_scatternd", "test_softmax_axis_1",
    "test_split_equal_parts_1d_opset13", "test_top_k", "test_where_example", "test_loop11",
    "test_split_to_sequence_1", "test_if",
)  # fmt: skip
CASES = {case.name: case for case in load_model_tests(kind="node") if case.name in NODE_CASES}


def linear(weight_name: str = "weight") -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", weight_name], ["y"])],
        "linear",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 3])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 2])],
        [numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(3, 2), weight_name)],
    )
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


X = np.ones((4, 3), np.float32)
Y = np.tile(np.array([6, 9], np.float32), (4, 1))


@pytest.mark.parametrize("name", NODE_CASES)
def test_cases_of_onnx(name: str) -> None:
    case = CASES[name]
    assert case.model is not None
    assert case.data_sets
    for inputs, expected in case.data_sets:
        outputs = backend.run_model(case.model, list(inputs))
        for got, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=case.rtol, atol=case.atol)


@pytest.mark.parametrize("inputs", [{"x": X}, [X], (X,), X], ids=["dict", "list", "tuple", "one"])
def test_inputs_come_in_every_form(inputs: Any) -> None:  # noqa: ANN401
    rep = backend.prepare(linear(), device="CPU")
    outputs: Any = rep.run(inputs)
    np.testing.assert_array_equal(outputs[0], Y)
    np.testing.assert_array_equal(outputs.y, Y)
    np.testing.assert_array_equal(outputs["y"], Y)


def test_what_the_caffe2_backend_showed() -> None:
    rep = backend.prepare(linear())
    assert [node.op_type for node in rep.predict_net.node] == ["Gemm"]
    assert list(rep.workspace) == ["weight"]


def test_a_file_with_external_data(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(linear(), str(path), save_as_external_data=True, location="w", size_threshold=0)
    assert (tmp_path / "w").exists()
    np.testing.assert_array_equal(backend.run_model(path, X)[0], Y)


def test_a_node() -> None:
    node = helper.make_node("Add", ["a", "b"], ["c"])
    (total,) = backend.run_node(node, [X, X])
    np.testing.assert_array_equal(total, X + X)


def test_devices() -> None:
    assert backend.supports_device("CPU")
    assert not backend.supports_device("TPU")
    with pytest.raises(ExportFailure, match="no device TPU"):
        backend.prepare(linear(), device="TPU")


@pytest.mark.parametrize(
    ("inputs", "said"),
    [({"z": X}, "given inputs named z, it takes x"), ([X, X], "given 2 inputs"), ([], "takes x")],
)
def test_wrong_inputs(inputs: Any, said: str) -> None:  # noqa: ANN401
    with pytest.raises(ExportFailure, match=said) as caught:
        backend.prepare(linear()).run(inputs)
    assert caught.value.reason is Reason.INPUTS_MISMATCH


def test_a_file_that_is_none(tmp_path: Path) -> None:
    assert not backend.OnnxBackend.is_compatible(tmp_path / "nothing.onnx")
    broken = linear()
    broken.graph.node[0].op_type = "NoSuchOperator"
    assert not backend.OnnxBackend.is_compatible(broken)
