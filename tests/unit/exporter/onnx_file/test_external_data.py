"""External data: every tensor's bytes at its place, once, in a file that its digest names."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx_ir as ir
import pytest
from numpy.typing import NDArray

from modelexport_exporter.onnx_file import external_data
from modelexport_exporter.onnx_file.external_data import ALIGNMENT, Placed, write_external_data

MATRIX = np.arange(35, dtype=np.float32).reshape(5, 7)


def values(*arrays: NDArray[Any]) -> list[ir.Value]:
    return [
        ir.Value(name=f"w{index}", const_value=ir.Tensor(array, name=f"w{index}"))
        for index, array in enumerate(arrays)
    ]


def bytes_at(directory: Path, name: str, place: Placed) -> bytes:
    return (directory / name).read_bytes()[place.offset : place.offset + place.length]


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(MATRIX, id="contiguous"),
        pytest.param(MATRIX.T, id="transposed"),
        pytest.param(MATRIX[::2, 1::3], id="strided"),
        pytest.param(MATRIX[:0], id="empty"),
        pytest.param(np.float32(3).reshape(()), id="scalar"),
        pytest.param(MATRIX.astype(ml_dtypes.bfloat16).T, id="bfloat16"),
        pytest.param(MATRIX > 3, id="bool"),
        pytest.param(np.broadcast_to(MATRIX[:1], (5, 7)), id="broadcast"),
    ],
)
@pytest.mark.parametrize("block", [8, 1 << 20], ids=["in blocks", "whole"])
def test_bytes_are_in_row_order(
    array: NDArray[Any], block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_data, "BLOCK_BYTES", block)
    file, places = write_external_data(values(MATRIX, array), tmp_path)
    assert bytes_at(tmp_path, file.name, places["w1"]) == array.tobytes()
    assert bytes_at(tmp_path, file.name, places["w0"]) == MATRIX.tobytes()
    assert {place.offset % ALIGNMENT for place in places.values()} == {0}


def test_the_digest_is_the_name_and_nothing_else_is_left(tmp_path: Path) -> None:
    file, _ = write_external_data(values(MATRIX), tmp_path)
    content = (tmp_path / file.name).read_bytes()
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert (file.name, file.size_bytes) == (f"model.{file.sha256[:12]}.data", len(content))
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_shared_memory_is_written_once(tmp_path: Path) -> None:
    file, places = write_external_data(values(MATRIX, MATRIX, MATRIX.copy()), tmp_path)
    assert places["w0"] == places["w1"]
    assert places["w2"].offset > 0
    assert file.size_bytes == ALIGNMENT + MATRIX.nbytes


def test_memory_that_is_only_lent_is_never_taken_for_shared(tmp_path: Path) -> None:
    def lazily(index: int) -> ir.Value:
        def make() -> ir.TensorProtocol:
            return ir.Tensor(np.full(100_000, index, dtype=np.float32))

        shape = ir.Shape([100_000])
        tensor = ir.LazyTensor(make, dtype=ir.DataType.FLOAT, shape=shape, name=f"w{index}")
        return ir.Value(name=f"w{index}", const_value=tensor)

    file, places = write_external_data([lazily(index) for index in range(8)], tmp_path)
    for index in range(8):
        content = np.frombuffer(bytes_at(tmp_path, file.name, places[f"w{index}"]), np.float32)
        assert set(content) == {index}


def test_packed_types_keep_their_packed_bytes(tmp_path: Path) -> None:
    packed = np.array([0x21, 0x43], dtype=np.uint8)
    tensor = ir.PackedTensor(packed, ir.DataType.INT4, shape=ir.Shape([4]), name="w0")
    file, places = write_external_data([ir.Value(name="w0", const_value=tensor)], tmp_path)
    assert bytes_at(tmp_path, file.name, places["w0"]) == packed.tobytes()
