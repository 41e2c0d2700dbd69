"""Inputs that decide whether a mutant computes something else: many, of every kind, and not ours.

Nothing here is taken from `modelexport_exporter.verification.samples`: sizes, values and seeds are
drawn by other rules, so that what the verification never meets can be met here. What `range`
declares is never left; floats without a range are finite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Dim, Input, ModelExportSpec
from modelexport_exporter.core.dims import concrete_shape

Array = NDArray[Any]
Rng = np.random.Generator
Draw = Callable[[Rng, tuple[int, ...]], Array]

_FREE: tuple[Draw, ...] = (
    lambda rng, shape: rng.standard_normal(shape),
    lambda rng, shape: rng.standard_normal(shape) * rng.choice([1e-3, 0.1, 4, 20, 100]),
    lambda rng, shape: rng.uniform(-8, 8, shape),
    lambda rng, shape: rng.integers(-16, 17, shape) / 8,
    lambda rng, shape: rng.integers(-3, 4, shape) * 0.5,
    lambda rng, shape: np.full(shape, rng.choice([0.0, 0.5, -0.5, 1.0, -1.0, 2.5, 7.0])),
    lambda rng, shape: np.where(rng.random(shape) < 0.9, 0.0, rng.standard_normal(shape)),
    lambda rng, shape: np.clip(rng.standard_cauchy(shape), -1e3, 1e3),
    lambda rng, shape: np.sort(rng.standard_normal(shape), axis=None).reshape(shape),
)
"""Floats without a range: ordinary ones first, they are drawn half of the time."""
_EDGES = (0.0, 1.0, 0.5)
"""Parts of a declared range that are met exactly."""


def draws(spec: ModelExportSpec, count: int, seed: int = 20) -> Iterator[dict[str, Array]]:
    """Yield that many sets of inputs; the first ones are at the ends of the dims."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        dims = {name: _size(dim, number, rng) for name, dim in spec.dims.items()}
        yield {entry.name: _one(entry, dims, rng) for entry in spec.inputs}


def _size(dim: Dim, number: int, rng: Rng) -> int:
    if number < 2:
        return (dim.min, dim.max)[number]
    if rng.random() < 0.15:
        return int(rng.choice([dim.min, dim.max]))
    if rng.random() < 0.4:
        return int(rng.integers(dim.min, dim.max, endpoint=True))
    low, high = np.log(max(dim.min, 1)), np.log(dim.max)
    return int(np.clip(round(np.exp(rng.uniform(low, high))), dim.min, dim.max))


def _one(entry: Input, dims: dict[str, int], rng: Rng) -> Array:
    shape = concrete_shape(entry, dims)
    dtype = np.dtype(entry.dtype.value)
    if dtype.kind == "f" and entry.range is None:
        kind = 0 if rng.random() < 0.5 else int(rng.integers(len(_FREE)))
        return np.asarray(_FREE[kind](rng, shape)).astype(dtype)
    low, high = entry.range or (0, 1)
    if dtype.kind == "f":
        return _between(low, high, shape, rng).astype(dtype)
    return _integers(int(low), int(high), shape, rng).astype(dtype)


def _between(low: float, high: float, shape: tuple[int, ...], rng: Rng) -> Array:
    part: Array = rng.random(shape)
    match rng.integers(6):
        case 0:
            part = np.full(shape, rng.choice(_EDGES))
        case 1:
            part = rng.choice([0.0, 1.0], shape)
        case 2:
            part = np.round(part * 8) / 8
        case 3:
            part = part**4
    return np.clip(low + part * (high - low), low, high)


def _integers(low: int, high: int, shape: tuple[int, ...], rng: Rng) -> Array:
    match rng.integers(8):
        case 0:
            return np.full(shape, rng.integers(low, high, endpoint=True))
        case 1:
            return rng.choice([low, high], shape)
        case 2:
            few = rng.integers(low, high, 3, endpoint=True)
            return rng.choice(few, shape)
        case 3:
            size = int(np.prod(shape))
            first = int(rng.integers(low, high, endpoint=True))
            return np.asarray((np.arange(size) + first - low) % (high - low + 1) + low).reshape(
                shape
            )
    return rng.integers(low, high, shape, endpoint=True)
