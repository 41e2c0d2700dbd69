"""Which numbers of which inputs look up given rows: arithmetic on indices, followed backwards.

`embed(ids + offsets)` reads row 40,007 where the third id is 7. What is not understood here ends
the way: such rows are tried as numbers of any input.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from modelexport_exporter.sampling.lookups import NOWHERE, Numbers
from modelexport_exporter.verification.samples.tables import FileValues, Table

Array = NDArray[Any]

MOST_STEPS = 24
_SAME = frozenset(
    {
        *("Abs", "Cast", "Clip", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Tile"),
        *("Transpose", "Unsqueeze"),
    }
)
"""Operators whose result holds the numbers of their first input, in range."""
_OF_A_PART = frozenset({"Slice", "Split"})
"""Operators whose result holds some columns of their input: all of them are set."""


def numbers_of(table: Table, rows: Array, values: FileValues) -> dict[str, Numbers] | None:
    """Return the numbers of inputs that look up rows, by input; None where that is not known."""
    if table.depth == 1:
        found = _behind(table.index, Numbers(rows + table.first), values, MOST_STEPS)
        return None if found is None else dict((found,))
    node = values.uncast_producer(table.index)
    if node is None or len(node.input) != table.depth:
        return None
    parts = np.unravel_index(rows, table.shape[: table.depth])
    placed: dict[str, Numbers] = {}
    for name, part in zip(node.input, parts, strict=True):
        found = _behind(name, Numbers(np.asarray(part, np.int64)), values, MOST_STEPS)
        if found is None or found[0] in placed:
            return None
        placed[found[0]] = found[1]
    return placed


def _behind(
    name: str, wanted: Numbers, values: FileValues, steps: int
) -> tuple[str, Numbers] | None:
    """Return an input, and its numbers at which a value is what is wanted."""
    if name in values.inputs:
        return name, wanted
    node = values.producers.get(name)
    if node is None or not steps:
        return None
    for before, numbers in _before(node, wanted, values):
        if (found := _behind(before, numbers, values, steps - 1)) is not None:
            return found
    return None


def _before(
    node: onnx.NodeProto, wanted: Numbers, values: FileValues
) -> Iterator[tuple[str, Numbers]]:
    """Yield inputs of a node, and what they hold where its result is what is wanted."""
    if node.op_type in _SAME:
        yield node.input[0], wanted
    elif node.op_type in _OF_A_PART:
        yield node.input[0], replace(wanted, by_row=True)
    elif node.op_type in {"Gather", "GatherND"}:
        yield from _before_gather(node, wanted, values)
    elif node.op_type == "Concat":
        yield from ((name, wanted) for name in node.input)
    elif node.op_type == "Where":
        yield from ((name, wanted) for name in node.input[:0:-1])
    elif len(node.input) == 2:  # noqa: PLR2004 - a binary operator
        for place in (0, 1):
            constant = values.array(node.input[1 - place])
            if constant is None or constant.dtype.kind not in "iu":
                continue
            numbers = _inverted(node.op_type, wanted, constant, first=place == 0)
            if numbers is not None:
                yield node.input[place], numbers


def _inverted(operator: str, wanted: Numbers, constant: Array, *, first: bool) -> Numbers | None:
    """Return the numbers of the other operand of a constant. `first`: it is the first one."""
    own, by_row = wanted.numbers, wanted.by_row
    number = constant.astype(np.int64).reshape(-1)
    if number.size != 1:  # a number for each column
        if own.ndim > 1 or constant.shape[-1] != number.size:
            return None
        own, by_row = own[:, None], True
    found: Array | None = None
    match operator:
        case "Add":
            found = own - number
        case "Sub":
            found = own + number if first else number - own
        case "Mul" if np.all(number != 0):
            found = np.where(own % number == 0, own // number, NOWHERE)
        case "Div" if first:
            found = own * number
        case "Mod" if first:
            found = np.where((own >= 0) & (own < number), own, NOWHERE)
        case "Min" | "Max":
            found = np.broadcast_to(own, np.broadcast_shapes(own.shape, number.shape))
    if found is None:
        return None
    return Numbers(np.where(own == NOWHERE, NOWHERE, found), by_row, wanted.column)


def _before_gather(
    node: onnx.NodeProto, wanted: Numbers, values: FileValues
) -> Iterator[tuple[str, Numbers]]:
    """Yield what leads to a number of a table of integers, or to a column of an input."""
    data, index = node.input[:2]
    table = values.array(data)
    if table is not None:
        if table.ndim == 1 and table.dtype.kind in "iu":
            yield index, replace(wanted, numbers=_places_in(table, wanted.numbers))
        return
    column = values.scalar(index)
    axis = next((own.i for own in node.attribute if own.name == "axis"), 0)
    last = axis in {-1, values.inputs.get(data, 0) - 1}
    yield data, replace(wanted, by_row=True, column=column if last else None)


def _places_in(table: Array, numbers: Array) -> Array:
    """Return where a table holds each number; NOWHERE for those that it does not hold."""
    order = np.argsort(table, kind="stable")
    found = np.minimum(np.searchsorted(table, numbers, sorter=order), len(table) - 1)
    places = order[found]
    return np.where(table[places] == numbers, places, NOWHERE).astype(np.int64)
