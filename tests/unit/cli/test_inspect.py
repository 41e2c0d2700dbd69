"""`modelexport inspect` shows the content of an ONNX file, without importing torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from modelexport_cli.main import main


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A file with external data, a custom domain in a branch, and metadata."""
    branch = helper.make_graph(
        [helper.make_node("Fused", ["y"], ["z"], domain="my.ops")],
        "then",
        [],
        [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None)],
    )
    other = helper.make_graph(
        [helper.make_node("Identity", ["y"], ["w"])],
        "else",
        [],
        [helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, None)],
    )
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "weight"], ["y"]),
            helper.make_node("If", ["flag"], ["out"], then_branch=branch, else_branch=other),
        ],
        "main",
        [
            helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 64]),
            helper.make_tensor_value_info("flag", onnx.TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, ["batch", 64])],
        [numpy_helper.from_array(np.ones((64, 64), np.float32), "weight")],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("my.ops", 2)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="tests")
    made.metadata_props.add(key="source", value="digest")
    path = tmp_path / "model.onnx"
    onnx.save(made, str(path), save_as_external_data=True, location="model.onnx.data")
    return path


def test_json_output(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(model), "-o", "json", "--graph"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["valid"]
    assert found["opsets"] == {"ai.onnx": 18, "my.ops": 2}
    assert found["ops"] == {"MatMul": 1, "If": 1, "my.ops::Fused": 1, "Identity": 1}
    assert found["customDomains"] == ["my.ops"]
    assert found["metadata"] == {"source": "digest"}
    assert found["inputs"][0] == {"name": "x", "dtype": "float32", "shape": ["batch", 64]}
    (weight,) = found["initializers"]
    assert (weight["external"], weight["sizeBytes"]) == ("model.onnx.data", 64 * 64 * 4)
    assert found["sizeBytes"] > 64 * 64 * 4
    assert "MatMul (x, weight)" in found["graph"]
    assert "then_branch" in found["graph"]


def test_text_output(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", f"file://{model}", "--graph"]) == 0
    out = capsys.readouterr().out
    assert "Checker   valid" in out
    assert "Input     x: float32 [batch, 64]" in out
    assert "Domains   my.ops" in out
    assert "MatMul (x, weight)" in out


def test_an_invalid_file_has_its_own_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = helper.make_graph([helper.make_node("Relu", ["missing"], ["y"])], "g", [], [])
    path = tmp_path / "bad.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    assert main(["inspect", str(path)]) == 14
    assert "not valid" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("missing.onnx", None, "not a readable ONNX file"),
        ("text.onnx", b"this is no protobuf", "not a readable ONNX file"),
        ("empty.onnx", b"", "no graph"),
    ],
)
def test_an_unreadable_file_is_reported(
    name: str,
    content: bytes | None,
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert main(["inspect", str(path)]) == 11
    err = capsys.readouterr().err
    assert expected in err
    assert "Traceback" not in err


@pytest.mark.parametrize("uri", ["http://host/model.onnx", "file:///nowhere/model.onnx"])
def test_a_missing_file_is_reported(uri: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", uri]) == 11
    assert uri in capsys.readouterr().err


def test_torch_is_not_imported(model: Path) -> None:
    script = (
        "import sys; from modelexport_cli.main import main\n"
        f"code = main(['inspect', {str(model)!r}])\n"
        "assert not {'torch', 'onnxruntime', 'boto3'} & set(sys.modules)\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
