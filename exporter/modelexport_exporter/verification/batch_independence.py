"""Whether rows of a batch are computed independently, so that a server may batch requests.

A dim's name does not decide it: a first dim that is dynamic in every input and output may be time,
or the model may normalise over it, and a server that batches would mix the requests of different
clients. So the file runs on a few rows together, and on each row alone.
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
"""Largest difference by dtype, relative to the output's peak. Kernels round differently at other
sizes (1e-6 of the peak for a float32 matrix product); rows that mix differ by much more."""
OTHER_FLOATS = 3e-2
"""The same for float16 and bfloat16."""


def is_batch_independent(arrays: Mapping[str, Array], run: Callable[[Any], Named]) -> bool:
    """Return whether the first rows have the same outputs together as each of them alone.

    `arrays`: inputs by name, the batch being the first dim of each. `run`: runs the file.
    """
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
