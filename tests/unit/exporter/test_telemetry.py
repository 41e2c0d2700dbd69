"""onnxruntime sends nothing and leaves no identifier: what docs/faq.md promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SESSION = """
import numpy, onnx, onnxruntime
value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
node = onnx.helper.make_node("Identity", ["x"], ["y"])
result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])
graph = onnx.helper.make_graph([node], "g", [value], [result])
model = onnx.helper.make_model(
    graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9
)
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"]
)
session.run(None, {"x": numpy.zeros(2, "float32")})
"""


def files_left(tmp_path: Path, first: str) -> list[str]:
    """Return what a session leaves in home, working and temporary directory."""
    # An environment of its own: onnxruntime sends nothing from what looks like CI.
    environment = {
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "https_proxy": "http://127.0.0.1:9",
    }
    command = [sys.executable, "-B", "-c", first + SESSION]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    return sorted(path.name for path in tmp_path.rglob("*") if path.is_file())


def test_a_process_of_the_exporter_leaves_nothing(tmp_path: Path) -> None:
    assert files_left(tmp_path, "import modelexport_exporter\n") == []


def test_onnxruntime_alone_would(tmp_path: Path) -> None:
    """If this fails, onnxruntime has changed, and the variable may no longer be needed."""
    assert "deviceid" in files_left(tmp_path, "")
