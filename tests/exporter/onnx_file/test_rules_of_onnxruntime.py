"""What onnxruntime takes as external data: the rules that pointing into a checkpoint relies on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

SIDE = 64
WEIGHT = np.random.default_rng(0).normal(size=(SIDE, SIDE)).astype(np.float32)


def model(directory: Path, location: str, offset: int) -> Path:
    """A Gemm whose weight is at an offset of another file."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=WEIGHT.shape)
    weight.data_location = TensorProto.EXTERNAL
    place = {"location": location, "offset": str(offset), "length": str(WEIGHT.nbytes)}
    for key, value in place.items():
        weight.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", SIDE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", SIDE])],
        [weight],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(made, directory / "model.onnx")
    return directory / "model.onnx"


def opened(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("offset", [0, 64, 8, 4, 1])
def test_any_offset_is_read_correctly_on_x86(tmp_path: Path, offset: int) -> None:
    (tmp_path / "checkpoint").write_bytes(bytes(offset) + WEIGHT.tobytes() + b"more")
    x = np.ones((3, SIDE), np.float32)
    (found,) = opened(model(tmp_path, "checkpoint", offset)).run(None, {"x": x})
    np.testing.assert_allclose(found, x @ WEIGHT.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", ["beyond its end", "absent", "above", "a link to outside"])
def test_what_is_not_there_is_refused(tmp_path: Path, case: str) -> None:
    directory = tmp_path / "model"
    directory.mkdir()
    location, offset = "checkpoint", 0
    (tmp_path / "outside").write_bytes(WEIGHT.tobytes())
    if case == "beyond its end":
        (directory / "checkpoint").write_bytes(WEIGHT.tobytes())
        offset = 4
    elif case == "above":
        location = "../outside"
    elif case == "a link to outside":
        (directory / "checkpoint").symlink_to(tmp_path / "outside")
    with pytest.raises(Exception, match=r"(?i)external|file|path|offset|size"):
        opened(model(directory, location, offset))


_MEASURE = """
import sys
import numpy as np, onnx, onnxruntime
from pathlib import Path
from onnx import TensorProto, helper

directory, kind = Path(sys.argv[1]), sys.argv[2]
side = 4096
with (directory / "checkpoint").open("wb") as file:
    file.truncate(side * side * 4)
weight = TensorProto(name="w", data_type=1, dims=(side, side), data_location=1)
place = {"location": "checkpoint", "offset": "0", "length": str(side * side * 4)}
for key, value in place.items():
    weight.external_data.add(key=key, value=value)
gemm = [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)]
folded = [
    helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]),
    helper.make_node("MatMul", ["x", "t"], ["y"]),
]
value = lambda name: helper.make_tensor_value_info(name, 1, ["n", side])
nodes = gemm if kind == "Gemm" else folded
graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], [weight])
opsets = [helper.make_opsetid("", 20)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), directory / "model.onnx")

def anonymous():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024

options = onnxruntime.SessionOptions()
options.add_session_config_entry("session.disable_prepacking", "1")
before = anonymous()
session = onnxruntime.InferenceSession(directory / "model.onnx", options)
session.run(None, {"x": np.ones((1, side), np.float32)})
print((anonymous() - before) / (side * side * 4))
"""


@pytest.mark.parametrize(("kind", "least", "most"), [("Gemm", 0, 0.3), ("Transpose", 0.9, 3)])
def test_a_gemm_uses_the_mapped_weight(
    tmp_path: Path, kind: str, least: float, most: float
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(tmp_path), kind],
        capture_output=True,
        text=True,
        check=True,
    )
    assert least <= float(done.stdout) <= most, "copies of the weight in memory"
