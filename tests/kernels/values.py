"""Inputs by class: the values on which a kernel may differ from torch's, for each dtype."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)
FLOATS = (torch.float32, torch.float64, *HALVES)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)
LENGTHS = (1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 67, 257)
"""Vectorized kernels treat the last few elements by other code."""
INF, NAN = math.inf, math.nan
_POWERS = {"2^24": 24, "2^31": 31, "2^53": 53}


def classes(dtype: torch.dtype) -> dict[str, list[float]]:
    """Return the values of each class of inputs, as Python numbers."""
    if dtype is torch.bool:
        return {"ordinary": [0, 1]}
    return _floats(dtype) if dtype.is_floating_point else _integers(dtype)


def _floats(dtype: torch.dtype) -> dict[str, list[float]]:
    info = torch.finfo(dtype)
    ordinary = [0.3, -1.7, 2.2, 0.9, 4.1, -0.6, 1.0, -2.5, 0.125, 3.0, -3.7, 0.01]
    wide = [12.0, -18.5, -30.0, 30.0, 80.0, -80.0, -100.0, 200.0]
    found = {
        "ordinary": ordinary,
        "ties": [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 1.0, -1.0, 2.0],
        "magnitudes": [*wide, 1e-4, -1e-4, 1e4, -1e4, 6e4, 1e-7, -1e-7],
        "signed zeros": [0.0, -0.0, 1.0, -1.0, -0.0, 0.0],
        "infinities": [-INF, 1.0, INF, -2.0, 0.5, INF, -INF],
        "all -inf": [-INF],
        "NaN": [NAN, 1.0, -2.0, NAN, 3.0, 0.0],
        "-inf and far below": [-INF, -200.0, -300.0, -250.0, -INF],
        "largest": [info.max, info.min, info.max / 2, 1.0, -info.max / 4],
        "subnormal": [info.smallest_normal / 4, -info.smallest_normal / 8, 0.0, 1.0],
    }
    for name, power in _POWERS.items():
        if 2.0**power < info.max:
            found[name] = [2.0**power + step for step in (-1, 0, 1, 3)] + [-(2.0**power), 0.5]
    return found


def _integers(dtype: torch.dtype) -> dict[str, list[float]]:
    info = torch.iinfo(dtype)
    found: dict[str, list[float]] = {"ordinary": [0, 1, 3, 2, 7, 5, 4]}
    if info.min:
        found["ordinary"] += [-1, -3, -6]
    for name, power in _POWERS.items():
        values = [sign * 2**power + step for sign in (1, -1) for step in (-1, 0, 1, 3)]
        kept = [value for value in values if info.min <= value <= info.max]
        if len(kept) > 2:
            found[name] = [*kept, 3]
    found["ends"] = [info.max, info.min, info.max - 1, info.min + 1, info.max // 2 + 1, 1]
    return found


def vectors(values: list[float], dtype: torch.dtype) -> Iterator[Tensor]:
    """Yield vectors of several lengths, each value in the first and in the last places."""
    for length in (max(LENGTHS), *LENGTHS[:-1]):
        rotated = [values[(length + place) % len(values)] for place in range(length)]
        yield tensor(rotated, dtype)


def tensor(values: list[float], dtype: torch.dtype) -> Tensor:
    """Return the values in the dtype; integers of Python stay exact."""
    if dtype.is_floating_point:
        return torch.tensor(values, dtype=torch.float64).to(dtype)
    return torch.tensor([int(value) for value in values], dtype=dtype)


def drawn(values: list[float], shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Return a tensor of values drawn from the class."""
    picked = np.random.default_rng(seed).integers(0, len(values), shape)
    return tensor([values[place] for place in picked.ravel()], dtype).reshape(shape)
