"""Nodes that PyTorch runs inside of onnxruntime, in several sessions of one process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from modelexport_api.spec import Provider
from modelexport_exporter.plugins.fall_through.torch_nodes import host_nodes_in_torch
from modelexport_exporter.plugins.runtime import SessionSetup
from modelexport_exporter.verification.runtime.session import Session

INPUT = np.linspace(-0.5, 0.5, 5, dtype=np.float32)


def session(tmp_path: Path, *operators: str) -> Session:
    """Load a file that applies operators of `aten` one after the other."""
    names = ["x", *(f"y{place}" for place in range(len(operators)))]
    nodes = [
        onnx.helper.make_node(name, [before], [after], domain="aten")
        for name, before, after in zip(operators, names[:-1], names[1:], strict=True)
    ]
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n"])
        for name in (names[0], names[-1])
    ]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:])
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("aten", 1)]
    path = tmp_path / "model.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return Session(path, Provider.CPU, setup=SessionSetup(host=host_nodes_in_torch))


def erfinv(given: Session) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return given.run({"x": INPUT}, "a test")[0]


def test_a_session_runs_and_ends_after_others_were_loaded(tmp_path: Path) -> None:
    # onnxruntime-extensions moved the operators of the first session when it got more of them.
    first = session(tmp_path, "erfinv")
    others = [session(tmp_path, "erfinv", "special_i0e", "erfinv") for _ in range(20)]
    expected = torch.from_numpy(INPUT).erfinv().numpy()
    assert erfinv(first) == pytest.approx(expected)
    del first
    assert all(np.isfinite(erfinv(other)).all() for other in others)
