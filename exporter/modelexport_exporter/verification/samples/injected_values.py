"""What the file itself says is worth trying: its constants, and rows of tables that were changed.

A comparison with 0.5 turned from `<` to `<=` shows at 0.5 only, a damaged row of an embedding only
where a token looks it up. Random samples meet neither, so both are read from the file and injected
into a sample. NaN is injected into one where the model says that it handles NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import torch
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import numpy_helper

from modelexport_api.spec import Input
from modelexport_exporter.call.tensors import to_array
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.verification.samples.drawing import FLOATS, NUMPY_DTYPES, integer_range

Array = NDArray[Any]

MOST_CONSTANTS = 128
LARGEST_CONSTANT = 1e6
"""Larger ones stand for infinity, in masks."""
ROUNDING = frozenset({"Round", "Floor", "Ceil", "Cast"})
"""Operators that decide at halves, or at integers, of what a constant may have scaled."""
HALVES = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.5)
MOST_STEPS_BEFORE_ROUNDING = 4
"""How far before a rounding its scale is looked for: quantisers clamp and shift in between."""
FEWEST_TURNS, MOST_TURNS = 2, 8
"""How many samples the injected_values are dealt over."""
MOST_ROWS = 4096
LARGEST_TABLE_BYTES = 256 << 20
ROWS_AT_ONCE = 1024
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)


@dataclass(frozen=True)
class InjectedValues:
    """Values to inject into inputs."""

    constants: tuple[float, ...] = ()
    """Numbers that the file has as constants."""
    halves: tuple[float, ...] = ()
    """Numbers that become halves or integers when such a constant scales them."""
    rows: tuple[int, ...] = ()
    """Rows in which a table of the file differs from the checkpoint's."""

    def __bool__(self) -> bool:
        return bool(self.constants or self.halves or self.rows)


def find_injected_values(path: Path, state: Mapping[str, torch.Tensor]) -> InjectedValues:
    """Read a file's injected_values. `state`: the model's parameters and buffers by name.

    There are none in what is no ONNX file: the session tells what is wrong with it.
    """
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except DecodeError:
        return InjectedValues()
    numbers = _numbers(graph)
    constants = set(filter(_is_injectable, numbers.values()))
    scales = _scales_before_rounding(graph, numbers)
    halves = {half / scale for scale in scales for half in HALVES}
    rows = {row for table in _tables(graph) for row in _changed_rows(table, state, path.parent)}
    return InjectedValues(
        tuple(sorted(constants)[:MOST_CONSTANTS]),
        tuple(sorted(halves - constants)[:MOST_CONSTANTS]),
        tuple(sorted(rows)[:MOST_ROWS]),
    )


def turns(inputs: Sequence[Input], dims: Mapping[str, int], injected_values: InjectedValues) -> int:
    """Return how many samples of these sizes it takes until each aim occurred, within limits."""
    needed = FEWEST_TURNS
    for entry in inputs:
        places = _places(math.prod(concrete_shape(entry, dims)))
        needed = max(needed, -(-len(_dealt(entry, injected_values)) // places))
    return min(needed, MOST_TURNS)


def inject(
    inputs: Sequence[Input], arrays: Mapping[str, Array], injected_values: InjectedValues, turn: int
) -> dict[str, Array]:
    """Return the arrays with half of their elements replaced by injected values within `range`.

    Each turn goes on dealing where the one before ended.
    """
    injected = {}
    for position, entry in enumerate(inputs):
        rng = np.random.default_rng([turn, position])
        array, dealt = arrays[entry.name], _dealt(entry, injected_values)
        hand = np.roll(dealt, -turn * _places(array.size))
        injected[entry.name] = _replaced(array, hand, rng, 0.5)
    return injected


def inject_nan(inputs: Sequence[Input], arrays: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """Return the arrays with NaN in the place of a quarter of the floats that have no `range`."""
    return {
        entry.name: _replaced(
            arrays[entry.name],
            np.array([np.nan] if takes_nan(entry) else []),
            np.random.default_rng([seed, position]),
            0.25,
        )
        for position, entry in enumerate(inputs)
    }


def takes_nan(entry: Input) -> bool:
    """Tell whether nothing declared excludes NaN."""
    return entry.dtype in FLOATS and entry.range is None


def _replaced(array: Array, hand: Array, rng: np.random.Generator, share: float) -> Array:
    """Return the array with a share of its elements replaced by the hand, dealt over and over."""
    if not len(hand) or not array.size:
        return array
    places = rng.permutation(array.size)[: _places(array.size, share)]
    replaced = array.copy()
    replaced.reshape(-1)[places] = np.resize(hand, len(places)).astype(array.dtype)
    return replaced


def _places(size: int, share: float = 0.5) -> int:
    return max(1, round(size * share))


def _dealt(entry: Input, injected_values: InjectedValues) -> Array:
    """Return what is dealt to an input, in order: mixed, constants before halves."""
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
        pools = [np.array(injected_values.constants), np.array(injected_values.halves)]
    elif np.dtype(NUMPY_DTYPES[entry.dtype]).kind == "b":
        return np.array([])
    else:
        low, high = integer_range(entry)
        pools = [np.array(injected_values.rows, dtype=np.int64)]
    rng = np.random.default_rng(1)
    within = [pool[(pool >= low) & (pool <= high)] for pool in pools]
    return np.concatenate([rng.permutation(pool) for pool in within])


def _numbers(graph: onnx.GraphProto) -> dict[str, float]:
    """Return the constants of one element by the name of their value."""
    named = [(tensor.name, tensor) for tensor in graph.initializer]
    for node in graph.node:
        tensors = (attribute.t for attribute in node.attribute if attribute.HasField("t"))
        named += [(node.output[0], tensor) for tensor in tensors]
    return {name: _number(tensor) for name, tensor in named if _is_scalar(tensor)}


def _is_scalar(tensor: onnx.TensorProto) -> bool:
    return math.prod(tensor.dims) == 1 and tensor.data_type in _FLOATS and not tensor.external_data


def _scales_before_rounding(graph: onnx.GraphProto, numbers: Mapping[str, float]) -> set[float]:
    """Return what values are multiplied by before something rounds them, 1 included."""
    makers = {output: node for node in graph.node for output in node.output}
    scales = set()
    for node in graph.node:
        if node.op_type in ROUNDING:
            scales |= set(_scales(node, makers, numbers))
    return scales


def _scales(
    rounding: onnx.NodeProto, makers: Mapping[str, onnx.NodeProto], numbers: Mapping[str, float]
) -> Iterator[float]:
    """Yield the factors between a rounding and what lies a few steps before it."""
    scale, node = 1.0, rounding
    for _ in range(MOST_STEPS_BEFORE_ROUNDING):
        yield scale
        followed = [name for name in node.input if name not in numbers]
        if not followed or followed[0] not in makers:
            return
        node = makers[followed[0]]
        by = next((numbers[name] for name in node.input if name in numbers), 1.0)
        if node.op_type in {"Mul", "Div"} and _is_injectable(by):
            scale *= by if node.op_type == "Mul" else 1 / by


def _number(tensor: onnx.TensorProto) -> float:
    return float(numpy_helper.to_array(tensor).reshape(-1)[0])


def _is_injectable(value: float) -> bool:
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
    # Mapped, not read: a vocabulary's table is large.
    table = ir.serde.deserialize_tensor(tensor, directory).numpy()
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
    return [
        begin + int(row)
        for begin in range(0, len(one), ROWS_AT_ONCE)
        for row in np.flatnonzero(
            (one[begin : begin + ROWS_AT_ONCE] != other[begin : begin + ROWS_AT_ONCE]).any(axis=1)
        )
    ]
