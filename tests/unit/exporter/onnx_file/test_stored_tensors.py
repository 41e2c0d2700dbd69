"""Which initializers are found in the checkpoint's bytes, and which are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx_ir as ir
import pytest
from numpy.typing import NDArray

from modelexport_exporter.onnx_file.external_data import BLOCK_BYTES, Placed
from modelexport_exporter.onnx_file.stored_tensors import (
    StoredFile,
    StoredTensors,
    is_aligned,
)

FLOATS = np.arange(24, dtype=np.float32).reshape(4, 6)
HALVES = np.arange(5, dtype=np.float16)
OFFSET = 64


def stored(tmp_path: Path, *arrays: NDArray[Any], offset: int = OFFSET) -> StoredTensors:
    """A checkpoint with these arrays, one after the other."""
    content, places = bytes(offset), []
    for array in arrays:
        places.append(Placed(len(content), array.nbytes))
        content += array.tobytes()
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    return StoredTensors([StoredFile(path, tuple(places))])


def found(tensors: StoredTensors, array: NDArray[Any]) -> int | None:
    pointer = tensors.find(ir.Tensor(array))
    return None if pointer is None else pointer.place.offset


@pytest.mark.parametrize(
    ("array", "offset"),
    [
        pytest.param(FLOATS, OFFSET, id="a whole tensor"),
        pytest.param(FLOATS.reshape(2, 12), OFFSET, id="another shape of the same bytes"),
        pytest.param(HALVES, OFFSET + 96, id="the second one"),
        pytest.param(FLOATS + 1, None, id="other values"),
        pytest.param(FLOATS[:2], None, id="a part of a tensor"),
        pytest.param(FLOATS.astype(np.float16), None, id="cast"),
        pytest.param(FLOATS.T, None, id="a transposed view"),
        pytest.param(np.ascontiguousarray(FLOATS.T), None, id="transposed"),
        pytest.param(FLOATS[:, ::2], None, id="every other column"),
    ],
)
def test_whole_tensors_are_found(tmp_path: Path, array: NDArray[Any], offset: int | None) -> None:
    assert found(stored(tmp_path, FLOATS, HALVES), array) == offset


def test_the_last_byte_counts(tmp_path: Path) -> None:
    large = np.zeros(BLOCK_BYTES // 4 + 2000, np.float32)
    changed = large.copy()
    changed[-1] = 1
    tensors = stored(tmp_path, large)
    assert found(tensors, large) == OFFSET
    assert found(tensors, changed) is None


def test_of_layers_of_one_shape_each_is_itself(tmp_path: Path) -> None:
    layers = [np.full((8, 8), value, np.float32) for value in range(4)]
    tensors = stored(tmp_path, *layers)
    assert [found(tensors, layer) for layer in layers] == [64, 320, 576, 832]


def test_nan_is_found_by_its_bytes(tmp_path: Path) -> None:
    array = np.array([np.nan, -0.0, 1], np.float32)
    assert found(stored(tmp_path, array), array) == OFFSET
    assert found(stored(tmp_path, array), np.array([np.nan, 0.0, 1], np.float32)) is None


def test_bfloat16_is_found(tmp_path: Path) -> None:
    array = np.arange(6).astype(ml_dtypes.bfloat16)
    tensors = stored(tmp_path, array)
    assert found(tensors, array) == OFFSET


@pytest.mark.parametrize(
    ("offset", "item_bytes", "aligned"),
    [(64, 4, True), (4, 4, True), (2, 4, False), (65, 1, True), (65, 2, False), (12, 8, False)],
)
def test_elements_start_at_multiples_of_their_size(
    offset: int, item_bytes: int, aligned: bool
) -> None:
    assert is_aligned(Placed(offset, 8), item_bytes) is aligned


def test_what_is_not_aligned_is_not_pointed_to(tmp_path: Path) -> None:
    assert found(stored(tmp_path, FLOATS, offset=65), FLOATS) is None


def test_a_file_is_published_under_its_digest(tmp_path: Path) -> None:
    file = stored(tmp_path, FLOATS).published(0)
    assert file.name == f"model.{file.sha256[:12]}.data"
    assert file.size_bytes == OFFSET + FLOATS.nbytes
