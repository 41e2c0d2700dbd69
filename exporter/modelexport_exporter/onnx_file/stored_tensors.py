"""Which initializers have the bytes of a tensor in the checkpoint, and where these are.

Guarantees that a place is named only if the bytes there were compared: what a module's code changed
after loading (a cast, a fused layer, a scaled weight) is found nowhere. Nothing is copied: both
sides are mapped, and an unchanged weight is the same memory twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from modelexport_exporter.core.digests import sha256_file
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.onnx_file.external_data import BLOCK_BYTES, Placed, data_file

_FIRST_BYTES = 4096
"""Compared first: layers of one shape mostly differ there."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class StoredFile:
    """A file of the checkpoint, and the places of whole tensors in it."""

    path: Path
    places: tuple[Placed, ...]


@dataclass(frozen=True)
class Pointer:
    """A place in a file of the checkpoint."""

    file: int
    """Its number."""
    place: Placed


class StoredTensors:
    """The tensors that a checkpoint stores as they are."""

    def __init__(self, files: Sequence[StoredFile]) -> None:
        """Begin to compute the digests of the files, which name them when they are published."""
        self.files = tuple(files)
        self._by_length: dict[int, list[Pointer]] = {}
        for number, file in enumerate(files):
            for place in file.places:
                self._by_length.setdefault(place.length, []).append(Pointer(number, place))
        self._found: dict[int, tuple[ir.TensorProtocol, Pointer | None]] = {}
        pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint-digest")
        self._digests: list[Future[str]] = [pool.submit(sha256_file, file.path) for file in files]
        pool.shutdown(wait=False)

    def find(self, tensor: ir.TensorProtocol) -> Pointer | None:
        """Return where the checkpoint has the bytes of a tensor in C order, if anywhere."""
        if id(tensor) not in self._found:
            self._found[id(tensor)] = (tensor, self._find(tensor))  # which keeps its id
        return self._found[id(tensor)][1]

    def _find(self, tensor: ir.TensorProtocol) -> Pointer | None:
        size = tensor.dtype.itemsize
        if size < 1 or tensor.dtype is ir.DataType.STRING:  # packed: several elements in a byte
            return None
        pointers = [
            pointer
            for pointer in self._by_length.get(tensor.nbytes, ())
            if is_aligned(pointer.place, int(size))
        ]
        own = _bytes_of(tensor.numpy()) if pointers else None
        if own is None:
            return None
        return next((pointer for pointer in pointers if self._is_at(pointer, own)), None)

    def published(self, number: int) -> WrittenFile:
        """Return a file of the checkpoint as it is published: external data, named by its digest.

        Waits for the digest.
        """
        return data_file(self._digests[number].result(), self.files[number].path.stat().st_size)

    def _is_at(self, pointer: Pointer, own: Bytes) -> bool:
        begin, end = pointer.place.offset, pointer.place.offset + pointer.place.length
        stored = _mapped(self.files[pointer.file].path)[begin:end]
        return all(np.array_equal(stored[part], own[part]) for part in _parts(len(own)))


def is_aligned(place: Placed, item_bytes: int) -> bool:
    """Return whether elements of a size may be used where they are, on every processor.

    onnxruntime gives its kernels the mapped bytes. x86-64 takes any offset; others need not.
    """
    return place.offset % item_bytes == 0


def _parts(size: int) -> Iterator[slice]:
    yield slice(0, _FIRST_BYTES)
    for begin in range(_FIRST_BYTES, size, BLOCK_BYTES):
        yield slice(begin, begin + BLOCK_BYTES)


@cache
def _mapped(path: Path) -> Bytes:
    return np.memmap(path, dtype=np.uint8, mode="r")


def _bytes_of(array: NDArray[Any]) -> Bytes | None:
    """Return an array's bytes without a copy; None if they are not in one piece, in C order."""
    if not array.flags.c_contiguous:
        return None
    return array.reshape(-1).view(np.uint8)
