"""Initializers that point into the checkpoint, which is published next to the model.

The checkpoint itself is not here yet when the model is written: a worker may neither write it nor
link to it. An empty file of its size takes its place for the checks of the model's file, and the
supervisor puts the checkpoint there before anything reads its bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import onnx_ir as ir

from modelexport_exporter.core.types import PointedFile, PointedWeights, WrittenFile
from modelexport_exporter.onnx_file.external_data import external_tensor
from modelexport_exporter.onnx_file.stored_tensors import Pointer, StoredTensors


class Pointed:
    """Takes the initializers of one model that are in the checkpoint."""

    def __init__(self, stored: StoredTensors) -> None:
        self._stored = stored
        self.files: tuple[WrittenFile, ...] = ()
        """Of the checkpoint, those that something points into."""
        self.weights = PointedWeights((), 0, 0)

    def take(self, large: Sequence[ir.Value], directory: Path) -> list[ir.Value]:
        """Let initializers point into the checkpoint; return those that it does not have."""
        pointers: dict[int, list[tuple[ir.Value, Pointer]]] = defaultdict(list)
        others = []
        for value in large:
            assert value.const_value is not None
            pointer = self._stored.find(value.const_value)
            if pointer is None:
                others.append(value)
            else:
                pointers[pointer.file].append((value, pointer))
        written: dict[str, WrittenFile] = {}
        pointed = []
        for number, found in sorted(pointers.items()):
            file = self._stored.published(number)
            written[file.name] = file
            size = sum(_point(value, pointer, file, directory) for value, pointer in found)
            source = self._stored.files[number].path.name
            pointed.append(PointedFile(file.name, source, len(found), size))
        for file in written.values():
            _hold_place(directory / file.name, file.size_bytes)
        self.files = tuple(written.values())
        self.weights = PointedWeights(tuple(pointed), len(others), sum(map(_nbytes, others)))
        return others


def _point(value: ir.Value, pointer: Pointer, file: WrittenFile, directory: Path) -> int:
    """Let an initializer point to a place; return its bytes."""
    value.const_value = external_tensor(value, file.name, pointer.place, directory)
    return pointer.place.length


def _hold_place(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def _nbytes(value: ir.Value) -> int:
    return value.const_value.nbytes if value.const_value is not None else 0
