"""A model's file with its weights: the same message as protobuf writes, tensor by tensor."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from numpy.typing import NDArray

from modelexport_exporter.onnx_file.embedded_data import write_with_embedded

MATRIX = np.arange(35, dtype=np.float32).reshape(5, 7)
ARRAYS: dict[str, NDArray[Any]] = {
    "matrix": MATRIX,
    "transposed": MATRIX.T,
    "empty": MATRIX[:0],
    "scalar": np.array(3.0),
    "bfloat16": MATRIX.astype(ml_dtypes.bfloat16),
    "int4": np.arange(-3, 4).astype(ml_dtypes.int4),
    "bool": MATRIX > 3,
    "large": np.zeros((1 << 15,), np.int64),
}


def model_of(arrays: dict[str, NDArray[Any]]) -> ir.Model:
    """Return a model with these initializers that returns its input."""
    given = ir.Value(name="x", shape=ir.Shape([1]), type=ir.TensorType(ir.DataType.FLOAT))
    values = [
        ir.Value(name=name, const_value=ir.Tensor(array, name=name))
        for name, array in arrays.items()
    ]
    node = ir.node("Identity", [given])
    returned = node.outputs[0]
    returned.name, returned.shape, returned.type = "y", given.shape, given.type
    graph = ir.Graph(
        [given], node.outputs, nodes=[node], initializers=values, opset_imports={"": 20}, name="g"
    )
    return ir.Model(graph, ir_version=10, producer_name="tests")


def written(arrays: dict[str, NDArray[Any]], names: list[str], path: Path) -> onnx.ModelProto:
    model = model_of(arrays)
    file = write_with_embedded(model, [model.graph.initializers[name] for name in names], path)
    content = path.read_bytes()
    assert (file.name, file.size_bytes) == (path.name, len(content))
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    return onnx.load_from_string(content)


@pytest.mark.parametrize("names", [[], ["matrix"], list(ARRAYS)], ids=["none", "one", "all"])
def test_file_holds_what_protobuf_would_write(tmp_path: Path, names: list[str]) -> None:
    found = written(ARRAYS, names, tmp_path / "model.onnx")
    expected = ir.to_proto(model_of(ARRAYS))
    for proto in (found, expected):
        tensors = sorted(proto.graph.initializer, key=lambda tensor: tensor.name)
        del proto.graph.initializer[:]
        proto.graph.initializer.extend(tensors)
    assert found == expected
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)


@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 129, 16383, 16384, 1 << 21])
def test_any_length_is_read_back(tmp_path: Path, size: int) -> None:
    found = written({"w": np.ones(size, np.uint8)}, ["w"], tmp_path / "model.onnx")
    assert onnx.numpy_helper.to_array(found.graph.initializer[0]).sum() == size


def test_the_model_gives_its_tensors_up_without_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = model_of({"w": MATRIX, "kept": MATRIX})
    with caplog.at_level(logging.WARNING):
        write_with_embedded(model, [model.graph.initializers["w"]], tmp_path / "model.onnx")
    assert model.graph.initializers["w"].const_value is None
    assert model.graph.initializers["kept"].const_value is not None
    assert not caplog.records
