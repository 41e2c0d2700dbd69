"""Whether the rows of a batch are computed for themselves, so that a server may batch requests.

A name does not tell: a first dim that is dynamic in every input and output may as well be time, or
the model may normalise over it; a server that batches would then answer each request with numbers
that depend on other people's requests. So the file is run on a few rows, and on each row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.verification.numerics.compare import is_float

Array = NDArray[Any]
Named = Sequence[tuple[str, Array]]

ROWS = 3
TOLERANCES = {"float64": 1e-5, "float32": 1e-3}
"""Relative to the output's peak. Kernels round differently for other sizes (1e-6 of float32's peak
for a matrix product); rows that mix differ by far more."""
OTHER_FLOATS = 3e-2


def rows_are_independent(arrays: Mapping[str, Array], run: Callable[[Any], Named]) -> bool:
    """Tell whether the first rows give together what each of them gives alone."""
    count = min(ROWS, *(len(array) for array in arrays.values()))
    together = run({name: array[:count] for name, array in arrays.items()})
    alone = [
        run({name: array[row : row + 1] for name, array in arrays.items()}) for row in range(count)
    ]
    return all(
        _agree(batched, [outputs[place][1] for outputs in alone])
        for place, (_, batched) in enumerate(together)
    )


def _agree(batched: Array, alone: Sequence[Array]) -> bool:
    if any(row.shape[:1] != (1,) for row in alone) or len(batched) != len(alone):
        return False
    if any(row.shape[1:] != batched.shape[1:] for row in alone):
        return False
    joined = np.concatenate(list(alone))
    if not is_float(batched.dtype):
        return bool(np.array_equal(joined, batched))
    tolerance = TOLERANCES.get(batched.dtype.name, OTHER_FLOATS)
    one, other = joined.astype(np.float64), batched.astype(np.float64)
    finite = np.isfinite(other)
    peak = float(np.abs(other[finite]).max(initial=0.0))
    return bool(np.allclose(one, other, rtol=0.0, atol=tolerance * peak, equal_nan=True))
