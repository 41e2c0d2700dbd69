"""What the file itself says is worth trying: its constants, and rows of tables that were changed.

A comparison with 0.5 turned from `<` to `<=` shows at 0.5 only, a damaged row of an embedding only
where a token looks it up. Random samples meet neither, so both are read from the file and strewn
into a sample. NaN is strewn into one where the model says that it handles NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import numpy_helper

from modelexport_api.spec import Input
from modelexport_exporter.verification.drawing import FLOATS, NUMPY_DTYPES, integer_range
from modelexport_exporter.verification.reference import to_array

Array = NDArray[Any]

MOST_CONSTANTS = 128
LARGEST_CONSTANT = 1e6
"""Larger ones stand for infinity, in masks."""
ROUNDING = frozenset({"Round", "Floor", "Ceil", "Cast"})
"""Operators that decide at halves, or at integers, of what a constant may have scaled."""
HALVES = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.5)
MOST_ROWS = 4096
LARGEST_TABLE_BYTES = 256 << 20
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)


@dataclass(frozen=True)
class Aims:
    """Values to strew into inputs."""

    constants: tuple[float, ...] = ()
    """Numbers that the file has as constants."""
    halves: tuple[float, ...] = ()
    """Numbers that become halves or integers when such a constant scales them."""
    rows: tuple[int, ...] = ()
    """Rows in which a table of the file differs from the checkpoint's."""

    def __bool__(self) -> bool:
        return bool(self.constants or self.halves or self.rows)


def find_aims(path: Path, state: Mapping[str, torch.Tensor]) -> Aims:
    """Read a file's aims. `state`: the model's parameters and buffers by name.

    There are none in what is no ONNX file: the session tells what is wrong with it.
    """
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except DecodeError:
        return Aims()
    constants = {value for tensor in _scalars(graph) if _is_aim(value := _number(tensor))}
    rounds = any(node.op_type in ROUNDING for node in graph.node)
    halves = {half / by for by in (1.0, *constants) for half in HALVES} if rounds else set()
    rows = {row for table in _tables(graph) for row in _changed_rows(table, state, path.parent)}
    return Aims(
        tuple(sorted(constants)[:MOST_CONSTANTS]),
        tuple(sorted(halves - constants)[:MOST_CONSTANTS]),
        tuple(sorted(rows)[:MOST_ROWS]),
    )


def strew(
    inputs: Sequence[Input], arrays: Mapping[str, Array], aims: Aims, seed: int
) -> dict[str, Array]:
    """Return the arrays with aims in the place of half of their elements, within `range`."""
    strewn = {}
    for position, entry in enumerate(inputs):
        rng = np.random.default_rng([seed, position])
        pools = [_within(entry, pool) for pool in _pools(entry, aims)]
        strewn[entry.name] = _replaced(arrays[entry.name], pools, rng, 0.5)
    return strewn


def strew_nan(inputs: Sequence[Input], arrays: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """Return the arrays with NaN in the place of a quarter of the floats that have no `range`."""
    return {
        entry.name: _replaced(
            arrays[entry.name],
            [np.array([np.nan])] if takes_nan(entry) else [],
            np.random.default_rng([seed, position]),
            0.25,
        )
        for position, entry in enumerate(inputs)
    }


def takes_nan(entry: Input) -> bool:
    """Tell whether nothing declared excludes NaN."""
    return entry.dtype in FLOATS and entry.range is None


def _replaced(
    array: Array, pools: Sequence[Array], rng: np.random.Generator, share: float
) -> Array:
    """Return the array with values of the pools dealt out in turn, the first pool first.

    Each value occurs once before any recurs, as long as there is room.
    """
    size = sum(len(pool) for pool in pools)
    if not size or not array.size:
        return array
    places = rng.permutation(array.size)[: max(1, round(array.size * share))]
    rounds = -(-len(places) // size)
    hands = [rng.permutation(pool) for _ in range(rounds) for pool in pools]
    replaced = array.copy()
    replaced.reshape(-1)[places] = np.concatenate(hands)[: len(places)].astype(array.dtype)
    return replaced


def _pools(entry: Input, aims: Aims) -> list[Array]:
    if entry.dtype in FLOATS:
        return [np.array(aims.constants), np.array(aims.halves)]
    if np.dtype(NUMPY_DTYPES[entry.dtype]).kind == "b":
        return []
    return [np.array(aims.rows, dtype=np.int64)]


def _within(entry: Input, pool: Array) -> Array:
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
    else:
        low, high = integer_range(entry)
    return pool[(pool >= low) & (pool <= high)]


def _scalars(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    tensors = [
        *graph.initializer,
        *(
            attribute.t
            for node in graph.node
            for attribute in node.attribute
            if attribute.HasField("t")
        ),
    ]
    for tensor in tensors:
        if math.prod(tensor.dims) == 1 and tensor.data_type in _FLOATS and not tensor.external_data:
            yield tensor


def _number(tensor: onnx.TensorProto) -> float:
    return float(numpy_helper.to_array(tensor).reshape(-1)[0])


def _is_aim(value: float) -> bool:
    return math.isfinite(value) and 0 < abs(value) <= LARGEST_CONSTANT


def _tables(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield the initializers that are looked up row by row."""
    looked_up = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    for tensor in graph.initializer:
        if tensor.name in looked_up and len(tensor.dims) > 1:
            yield tensor


def _changed_rows(
    tensor: onnx.TensorProto, state: Mapping[str, torch.Tensor], directory: Path
) -> list[int]:
    originals = [
        own
        for name, own in state.items()
        if tuple(own.shape) == tuple(tensor.dims)
        and own.nbytes <= LARGEST_TABLE_BYTES
        and (name == tensor.name or tensor.name not in state)
    ]
    if not originals:
        return []
    table = numpy_helper.to_array(tensor, str(directory))
    differing = [_differing_rows(table, to_array(own)) for own in originals]
    # A table without a namesake is the one that it resembles most.
    return min((rows for rows in differing if rows is not None), key=len, default=[])


def _differing_rows(table: Array, original: Array) -> list[int] | None:
    if table.dtype != original.dtype:
        return None
    # As bits: NaN is equal to itself, and 0.0 is not -0.0.
    one, other = (
        np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8)
        for array in (table, original)
    )
    return [int(row) for row in np.flatnonzero((one != other).any(axis=1))]
