"""Initializers written to one file next to the model, streamed and hashed in one pass.

Guarantees that no more than one block of one tensor is copied, for any strides: folding
`Transpose(weight)` leaves strided views, which are slow to write element by element. The file is
named by its digest, so that a model and its data cannot be mixed up, and each tensor starts where
a consumer can map it. Tensors that share memory are written once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx_ir as ir
import torch
from numpy.typing import NDArray

from modelexport_exporter.core.types import WrittenFile

ALIGNMENT = 4096
"""Page size: offsets at which onnxruntime maps external data instead of reading it."""
BLOCK_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Placed:
    """Where a tensor's bytes are in the data file."""

    offset: int
    length: int


def write_external_data(
    values: Sequence[ir.Value], directory: Path
) -> tuple[WrittenFile, dict[str, Placed]]:
    """Write the initializers' tensors; return the file and each value's place in it."""
    partial = directory / "model.data.partial"
    places: dict[str, Placed] = {}
    with partial.open("wb") as file:
        writer = _Writer(file)
        for value in values:
            assert value.name is not None
            assert value.const_value is not None
            places[value.name] = writer.write(value.const_value)
    digest = writer.sha256.hexdigest()
    written = data_file(digest, writer.position)
    partial.rename(directory / written.name)
    return written, places


def data_file(sha256: str, size_bytes: int) -> WrittenFile:
    """Return a file of external data, which its digest names."""
    return WrittenFile(f"model.{sha256[:12]}.data", size_bytes, sha256)


def external_tensor(
    value: ir.Value, location: str, place: Placed, directory: Path
) -> ir.ExternalTensor:
    """Return an initializer's tensor as what is at a place of a file next to the model."""
    tensor = value.const_value
    assert tensor is not None
    assert value.name is not None
    return ir.ExternalTensor(
        location,
        place.offset,
        place.length,
        tensor.dtype,
        shape=ir.Shape(tensor.shape.numpy()),
        name=value.name,
        base_dir=directory,
    )


class _Writer:
    """Appends tensors to a file and remembers what it wrote."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._known: dict[tuple[object, ...], Placed] = {}
        self.sha256 = hashlib.sha256()
        self.position = 0

    def write(self, tensor: ir.TensorProtocol) -> Placed:
        memory = _lasting_memory(tensor)
        if memory is None:
            return self._append(blocks(tensor))
        if memory not in self._known:
            self._known[memory] = self._append(blocks(tensor))
        return self._known[memory]

    def _append(self, blocks: Iterator[memoryview]) -> Placed:
        self._write(memoryview(bytes(-self.position % ALIGNMENT)))
        offset = self.position
        for block in blocks:
            self._write(block)
        return Placed(offset, self.position - offset)

    def _write(self, block: memoryview) -> None:
        self._file.write(block)
        self.sha256.update(block)
        self.position += block.nbytes


def _lasting_memory(tensor: ir.TensorProtocol) -> tuple[object, ...] | None:
    """Return what identifies the tensor's memory, if the tensor itself keeps it alive.

    Tensors that are read or computed on access return memory that is gone after the write; the
    next one may get the same address.
    """
    if not isinstance(tensor, ir.Tensor):
        return None
    raw = tensor.raw
    if isinstance(raw, np.ndarray):
        return (raw.__array_interface__["data"][0], raw.shape, raw.strides, raw.dtype.str)
    if isinstance(raw, torch.Tensor) and not (raw.is_conj() or raw.is_neg()):
        return (raw.data_ptr(), tuple(raw.shape), raw.stride(), raw.dtype)
    return None


def blocks(tensor: ir.TensorProtocol) -> Iterator[memoryview]:
    """Yield a tensor's bytes in C order, a bounded part at a time."""
    if tensor.dtype.itemsize < 1:  # packed: several elements in a byte
        yield memoryview(tensor.tobytes())
        return
    array: NDArray[Any] = tensor.numpy()
    unsigned: np.dtype[Any] = np.dtype(f"<u{array.dtype.itemsize}")
    # ml_dtypes (bfloat16, float8) have no buffer interface; their bytes are what counts.
    yield from _contiguous_blocks(array if array.dtype.kind in "biufc" else array.view(unsigned))


def _contiguous_blocks(array: NDArray[Any]) -> Iterator[memoryview]:
    """Yield the array's bytes in C order, a bounded part at a time."""
    if array.size == 0:
        return
    if array.flags.c_contiguous:
        yield array.reshape(-1).view(np.uint8).data
        return
    rows = max(1, BLOCK_BYTES // max(1, array.nbytes // array.shape[0]))
    for start in range(0, array.shape[0], rows):
        part = _contiguous(array[start : start + rows])
        yield part.reshape(-1).view(np.uint8).data


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in C order.

    torch turns a matrix over five times as fast as numpy, if all of its memory is the matrix.
    """
    if not array.flags.writeable or min(array.strides) < 0:  # torch takes neither
        return np.ascontiguousarray(array)
    tensor = torch.from_numpy(array)
    if tensor.dim() == 2 and tensor.stride(0) < tensor.stride(1):  # noqa: PLR2004
        tensor = tensor.t().contiguous().t()
    contiguous: NDArray[Any] = tensor.contiguous().numpy()
    return contiguous
