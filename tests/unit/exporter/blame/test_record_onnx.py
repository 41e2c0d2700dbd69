"""A file recorded node by node."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from modelexport_api.spec import Provider
from modelexport_exporter.blame.record_onnx import File, Runtime
from modelexport_exporter.core.machine import busy_seconds
from modelexport_exporter.plugins.runtime import SessionSetup

LENGTH = 30


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """Write a file that adds x to itself, again and again; a sequence is among its values."""
    nodes = [
        helper.make_node("Add", [f"v{place}" if place else "x", "x"], [f"v{place + 1}"])
        for place in range(LENGTH)
    ]
    nodes += [
        helper.make_node("SequenceConstruct", ["x", f"v{LENGTH}"], ["several"]),
        helper.make_node("ConcatFromSequence", ["several"], ["y"], axis=0),
    ]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m"])
    graph = helper.make_graph(nodes, "chain", [given], [result])
    path = tmp_path / "chain.onnx"
    opset = helper.make_opsetid("", 20)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=10), path)
    return path


def test_every_tensor_is_recorded_and_types_are_inferred_once(chain: Path) -> None:
    x = np.arange(3, dtype=np.float32)
    runtime = Runtime(Provider.CPU, SessionSetup())
    file = File(chain, runtime, {"x": x}, busy_seconds() + 60)
    with mock.patch.object(
        onnx.shape_inference, "infer_shapes", wraps=onnx.shape_inference.infer_shapes
    ) as inferred:
        trace = file.trace()
    assert inferred.call_count == 1, "an inference for each tensor is quadratic"
    assert len(trace.steps) == LENGTH + 2
    recorded = {file.names[number] for number in trace.prints}
    assert recorded == {"y", *(f"v{place}" for place in range(1, LENGTH + 1))}
    assert np.array_equal(file.fetch(["v2"])["v2"], x * 3)
