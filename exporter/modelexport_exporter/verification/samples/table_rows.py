"""In which rows a table of the file differs from a tensor of the model: bits, then distances.

Memory is read block by block and never copied as a whole: a vocabulary takes gigabytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import torch
from numpy.typing import NDArray

from modelexport_exporter.call.tensors import to_array
from modelexport_exporter.verification.samples.tables import Table

Array = NDArray[Any]

BLOCK_BYTES = 1 << 20
PROBED_ROWS = 64
"""Where most of so many rows, spread over the table, differ, a tensor has nothing to do with it."""
ROUNDING = 8.0
"""Distance, in the dtype's epsilons, up to which a row that the exporter computed may differ from
the row that eager PyTorch computes: both round, in another order."""
ROUNDED_ROWS = 256
"""Of rows within ROUNDING, so many are looked up: the most different ones."""

_TORCH: dict[np.dtype[Any], torch.dtype] = {
    np.dtype(ml_dtypes.bfloat16): torch.bfloat16,
    **{
        np.dtype(name): getattr(torch, "bool" if name == "bool_" else name)
        for name in (
            *("float16", "float32", "float64", "bool_"),
            *("int8", "uint8", "int16", "int32", "int64"),
        )
    },
}
"""The dtypes of tables that are compared."""


@dataclass(frozen=True)
class Distances:
    """How far each row of a table is from the same row of a tensor; 0 for equal bits."""

    rows: Array
    """Float32: in epsilons of the dtype, relative to the row's peak or its column's, whichever is
    smaller; infinite for integers."""

    @property
    def damaged(self) -> int:
        """Return the number of rows that rounding does not explain."""
        return int(np.count_nonzero(self.rows > ROUNDING))

    def is_nearer_than(self, other: Distances | None) -> bool:
        """Return whether the table is rather this tensor than another one."""
        if other is None:
            return True
        own, others = np.count_nonzero(self.rows), np.count_nonzero(other.rows)
        return (self.damaged, own) < (other.damaged, others)

    def together_with(self, other: Distances | None) -> Distances:
        """Return the distances to whichever of two tensors is farther."""
        return self if other is None else Distances(np.maximum(self.rows, other.rows))

    def rows_to_look_up(self) -> Array:
        """Return the rows that rounding does not explain, and some others, the farthest first."""
        order = np.argsort(-self.rows, kind="stable")
        count = min(int(np.count_nonzero(self.rows)), self.damaged + ROUNDED_ROWS)
        return order[:count]


class ComparedTable:
    """A table of the file, to be compared with tensors of the model."""

    def __init__(self, table: Table, array: Array) -> None:
        """Compare with `array`, which is not copied."""
        self._table, self._array = table, array
        self._dtype = _TORCH.get(array.dtype)
        self._width = max(array.size // max(table.rows, 1), 1)

    def may_be(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor has the shape and the kind of dtype of the table, and memory.

        Floats of another precision count: a file may have been asked for in one.
        """
        if self._dtype is None or tuple(tensor.shape) != self._table.shape:
            return False
        if tensor.layout is not torch.strided or tensor.is_meta:
            return False
        floats = self._dtype.is_floating_point and tensor.is_floating_point()
        return floats or tensor.dtype == self._dtype

    def distances(self, tensor: torch.Tensor) -> Distances | None:
        """Return how far each row is from the tensor's; None for a tensor that is another one."""
        rows = self._table.rows
        step = max(BLOCK_BYTES // (self._width * self._array.itemsize), 1)
        found = np.zeros(rows, dtype=np.float32)
        mine = _as_rows(self._array, self._table)
        theirs = _as_rows(tensor.detach(), self._table)
        probed = slice(None, None, -(-rows // PROBED_ROWS))
        if _mostly_differ(self._block(mine[probed], theirs[probed])):
            return None
        for begin in range(0, rows, step):
            block = slice(begin, begin + step)
            found[block] = self._block(mine[block], theirs[block])
        return None if _mostly_differ(found) else Distances(found)

    def _block(self, mine: Array, theirs: torch.Tensor) -> Array:
        """Return the distances of some rows."""
        one = np.ascontiguousarray(mine).reshape(-1, self._width)
        other = to_array(theirs.to(self._dtype).contiguous())
        return _distances(one, other.reshape(-1, self._width))


def _mostly_differ(distances: Array) -> bool:
    return 2 * int(np.count_nonzero(distances > ROUNDING)) > len(distances)


def _as_rows(array: Any, table: Table) -> Any:  # noqa: ANN401 - of numpy or torch
    """Return a view whose first axis is that of the rows."""
    if table.depth > 1:
        return array.reshape(table.rows, *table.shape[table.depth :])
    if table.axis == 0:
        return array
    order = [table.axis, *(axis for axis in range(array.ndim) if axis != table.axis)]
    return array.transpose(order) if isinstance(array, np.ndarray) else array.permute(order)


def _distances(one: Array, other: Array) -> Array:
    """Return the distance of each row of two contiguous matrices of one dtype."""
    found = np.zeros(len(one), dtype=np.float32)
    # As bits: NaN is equal to itself, and 0.0 is not -0.0.
    mine, theirs = one.view(np.uint8), other.view(np.uint8)
    if mine.shape[1] % 8 == 0:
        mine, theirs = mine.view(np.uint64), theirs.view(np.uint64)
    if np.array_equal(mine, theirs):
        return found
    differing = np.flatnonzero((mine != theirs).any(axis=1))
    if one.dtype.kind in "iub":
        found[differing] = np.inf
        return found
    wide = np.float64 if one.dtype == np.float64 else np.float32
    eps = float(ml_dtypes.finfo(one.dtype).eps)  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        magnitudes = np.abs(other.astype(wide))
        column = np.where(np.isfinite(magnitudes), magnitudes, 0).max(axis=0)
        own = magnitudes[differing]
        row = np.where(np.isfinite(own), own, 0).max(axis=1, keepdims=True)
        got, want = one[differing].astype(wide), other[differing].astype(wide)
        far = np.abs(np.subtract(got, want)) / np.minimum(row, column)
    equal = np.isnan(got) & np.isnan(want) | (got == want)
    far = np.where(equal, 0.0, np.nan_to_num(far, nan=np.inf, posinf=np.inf))
    # Another sign of zero is a difference, the smallest one; so is another NaN.
    found[differing] = np.maximum(far.max(axis=1) / eps, 0.5)
    return found
