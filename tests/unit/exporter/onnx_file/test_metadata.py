"""Facts appended to an ONNX file: nothing else of it changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modelexport_api.reasons import Reason
from modelexport_exporter.core.digests import sha256_file
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.metadata import (
    append_metadata,
    check_states_nothing,
    encode_metadata,
)


def written(directory: Path) -> Path:
    """A model with a weight, and metadata of its own."""
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Mul", ["x", "w"], ["y"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])],
        [weight],
    )
    opset = onnx.helper.make_opsetid("", 20)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10)
    onnx.helper.set_model_props(model, {"theirs": "stays"})
    path = directory / "model.onnx"
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def props(model: onnx.ModelProto) -> dict[str, str]:
    return {entry.key: entry.value for entry in model.metadata_props}


def test_everything_else_is_the_same(tmp_path: Path) -> None:
    path = written(tmp_path)
    before, content = onnx.load(path), path.read_bytes()
    file = append_metadata(path, {"verdict": "Verified", "opset": "20"})
    after = onnx.load(path)

    assert path.read_bytes().startswith(content)
    assert (file.sha256, file.size_bytes) == (sha256_file(path), path.stat().st_size)
    assert props(after) == {
        "theirs": "stays",
        "modelexport.opset": "20",
        "modelexport.verdict": "Verified",
    }
    del after.metadata_props[1:]
    assert after == before


def test_checker_and_runtime_take_the_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    append_metadata(path, {"verdict": "Verified"})
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": np.array([3, 4], np.float32)})
    assert y.tolist() == [3, 8]
    assert session.get_modelmeta().custom_metadata_map["modelexport.verdict"] == "Verified"


@given(st.dictionaries(st.text(max_size=300), st.text(max_size=300), max_size=5))
def test_any_text_is_read_back_by_onnx(facts: dict[str, str]) -> None:
    model = onnx.ModelProto.FromString(encode_metadata(facts))
    assert props(model) == {f"modelexport.{key}": value for key, value in facts.items()}
    assert encode_metadata(dict(reversed(facts.items()))) == encode_metadata(facts)


def test_other_metadata_may_be_there(tmp_path: Path) -> None:
    check_states_nothing(written(tmp_path))


@pytest.mark.parametrize("before", [b"", b"\xa3\x06\xa4\x06", b"\xa0\x06\x01\xa5\x06abcd"])
@pytest.mark.parametrize("first", [True, False])
def test_a_file_that_states_a_verdict_is_refused(
    tmp_path: Path, before: bytes, *, first: bool
) -> None:
    """`before`: fields that onnx does not know: a group, numbers."""
    path = written(tmp_path)
    forged = encode_metadata({"verdict": "Verified"})
    content = path.read_bytes()
    path.write_bytes(before + (forged + content if first else content + forged))
    assert "modelexport.verdict" in props(onnx.load(path))
    with pytest.raises(ExportFailure, match=r"modelexport\.verdict") as caught:
        check_states_nothing(path)
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID


@given(st.binary(max_size=300))
@example(b"\x72" + b"\xff" * 9 + b"\x7f")  # a length above that of any file
@example(b"\x72\x05\x0a" + b"\xff" * 9 + b"\x7f")
def test_any_bytes_are_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "model.onnx"
    path.write_bytes(content)
    check_states_nothing(path)
