"""Which rows of the file's tables are looked up, and by which numbers of which inputs.

Most tables are tensors of the model, bit by bit. What the exporter computed is compared with what
eager PyTorch computes. Rows that differ, and all rows of a table that only the file has, are looked
up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import torch
from google.protobuf.message import DecodeError

from modelexport_api.spec import Input
from modelexport_exporter.sampling.draw import FLOATS
from modelexport_exporter.sampling.lookups import Lookups, Numbers, within_range
from modelexport_exporter.verification.samples.eager_tables import EagerTables
from modelexport_exporter.verification.samples.index_paths import numbers_of
from modelexport_exporter.verification.samples.table_rows import ComparedTable, Distances
from modelexport_exporter.verification.samples.tables import FileValues, Table, tables_of

RunEager = Callable[[AbstractContextManager[object]], None]
"""Runs the module once inside of a context; does nothing where it does not run."""


def find_lookups(
    path: Path,
    state: Mapping[str, torch.Tensor],
    inputs: Sequence[Input],
    run_eager: RunEager,
) -> tuple[Lookups, ...]:
    """Return the rows to look up, for each table that is not a tensor of the model.

    `state`: the model's parameters and buffers by name. Nothing if the file is not ONNX: the
    session reports that.
    """
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except DecodeError:
        return ()
    values = FileValues.of(graph, path.parent)
    tables = tables_of(values)
    compared = {table.name: _compared(table, values) for table in tables}
    distances = {name: _from_state(own, state) for name, own in compared.items()}
    computed = {name: own for name, own in compared.items() if distances[name] is None}
    if computed:
        eager = EagerTables(computed)
        run_eager(eager)
        distances |= eager.nearest
    found = (_lookups(table, distances[table.name], values, inputs) for table in tables)
    return tuple(own for own in found if own is not None)


def _compared(table: Table, values: FileValues) -> ComparedTable:
    array = values.array(table.name)
    return ComparedTable(table, np.zeros(table.shape) if array is None else array)


def _from_state(table: ComparedTable, state: Mapping[str, torch.Tensor]) -> Distances | None:
    """Return the distances to the tensor of the state that a table is; None if it is none of them.

    A row is far if it is far from any of several similar ones, such as a copy of which few rows
    were trained: a file may read the wrong one.
    """
    nearest: Distances | None = None
    for own in state.values():
        found = table.distances(own) if table.may_be(own) else None
        if found is not None:
            nearest = found.together_with(nearest)
    return nearest


def _lookups(
    table: Table, distances: Distances | None, values: FileValues, inputs: Sequence[Input]
) -> Lookups | None:
    """Return the rows of a table to look up that numbers within the inputs' ranges reach.

    None where all rows are those of the model.
    """
    rows = np.arange(table.rows) if distances is None else distances.rows_to_look_up()
    if not len(rows):
        return None
    numbers = rows.astype(np.int64)
    placed = numbers_of(table, numbers, values)
    known = placed is not None and set(placed) <= {entry.name for entry in inputs}
    if placed is None or not known:
        integers = [entry.name for entry in inputs if entry.dtype not in FLOATS]
        placed = {name: Numbers(numbers) for name in integers}
    lookups = Lookups(table.name, len(rows), placed, distances is not None, known)
    if not known:
        return lookups
    reached = within_range(lookups, inputs)
    kept = {name: replace(own, numbers=own.numbers[reached]) for name, own in placed.items()}
    return replace(lookups, count=int(np.count_nonzero(reached)), inputs=kept)
