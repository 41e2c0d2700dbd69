"""Values of inputs that the product never saw: its own ways of drawing, and constants named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fuzz.case import FuzzCase, sizes_of

_BOUNDS = {
    "int64": (0, 5),
    "int32": (0, 5),
    "int16": (0, 5),
    "int8": (0, 5),
    "uint8": (0, 255),
}
"""Of integers whose range is not declared."""
_FLOATS = {"float16": np.float16, "float32": np.float32, "float64": np.float64}
_EDGES = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -3.0, 1e-3, 9.0, -9.0, 30.0, -30.0)
WAYS = ("normal", "uniform", "edges", "named", "low", "high", "magnitudes", "ties")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")


@dataclass(frozen=True, slots=True)
class Drawing:
    """How values are drawn."""

    way: str
    numbers: Sequence[float]
    """That the model names."""
    random: np.random.Generator


def feeds(case: FuzzCase) -> Iterator[tuple[dict[str, int], dict[str, torch.Tensor]]]:
    """Yield sizes and values: every way of drawing at some size, every size in some way."""
    sizes = sizes_of(case.dims, case.seed + 99)
    numbers = constants(case.source)
    for place in range(max(len(sizes), 3 * len(WAYS))):
        own = sizes[(place * 7) % len(sizes)] if len(sizes) % 7 else sizes[place % len(sizes)]
        way = WAYS[place % len(WAYS)]
        yield own, draw(case.inputs, own, 10_000 + case.seed * 100 + place, way, numbers)


def constants(source: str) -> list[float]:
    """Return numbers that forward names, and their neighbours."""
    _, _, body = source.partition("def forward")
    named = {float(text) for text in _NUMBER.findall(body)}
    return sorted({near for number in named for near in (number - 1, number, number + 1)})


def draw(
    inputs: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    seed: int,
    way: str = "normal",
    numbers: Sequence[float] = (),
) -> dict[str, torch.Tensor]:
    """Return a tensor for each input."""
    drawing = Drawing(way, numbers, np.random.default_rng(seed))
    return {
        entry["name"]: torch.from_numpy(
            _array(entry, tuple(sizes.get(size, size) for size in entry["shape"]), drawing)
        )
        for entry in inputs
    }


def _array(
    entry: Mapping[str, Any],
    shape: tuple[Any, ...],
    drawing: Drawing,
) -> np.ndarray[Any, Any]:
    dtype = entry["dtype"]
    if dtype == "bool":
        drawn = {"low": np.zeros(shape), "high": np.ones(shape)}.get(
            drawing.way, drawing.random.integers(0, 2, shape)
        )
        return np.asarray(drawn).astype(bool)
    if dtype in _FLOATS:
        low, high = entry.get("range", (-np.inf, np.inf))
        with np.errstate(over="ignore"):
            values = _floats(shape, low, high, drawing)
            return np.asarray(np.clip(values, low, high)).astype(_FLOATS[dtype])
    low, high = entry.get("range", _BOUNDS[dtype])
    return _integers(shape, low, high, drawing).astype(dtype)


def _floats(
    shape: tuple[Any, ...],
    low: float,
    high: float,
    drawing: Drawing,
) -> np.ndarray[Any, Any]:
    random, bounded = drawing.random, bool(np.isfinite(low))
    ends = (low, high) if bounded else (-6.0, 6.0)
    draws: dict[str, Callable[[], Any]] = {
        "uniform": lambda: random.uniform(*ends, shape),
        "edges": lambda: random.choice(_EDGES, shape),
        "named": lambda: random.choice([*drawing.numbers, 0.0], shape),
        "low": lambda: np.full(shape, ends[0]),
        "high": lambda: np.full(shape, ends[1]),
        "magnitudes": lambda: random.choice([-1, 1], shape) * 10.0 ** random.uniform(-3, 2, shape),
        "ties": lambda: random.choice(random.standard_normal(2), shape),
    }
    wide = drawing.way == "normal" and bounded and high > 10
    drawn = draws.get("uniform" if wide else drawing.way, lambda: random.standard_normal(shape))()
    return np.asarray(drawn)


def _integers(
    shape: tuple[Any, ...],
    low: int,
    high: int,
    drawing: Drawing,
) -> np.ndarray[Any, Any]:
    random, way = drawing.random, drawing.way
    inside = [int(number) for number in drawing.numbers if low <= number <= high] or [low]
    large = [near for power in (24, 31) for near in (2**power - 1, 2**power, 2**power + 1)]
    if way in {"low", "high"}:
        return np.full(shape, high if way == "high" else low, dtype=np.int64)
    if way == "named":
        return random.choice(np.array(inside, dtype=np.int64), shape)
    if way == "edges":
        known = [low, low + 1, high - 1, high, *(value for value in large if low <= value <= high)]
        return random.choice(np.array(known, dtype=np.int64), shape)
    if way == "magnitudes":
        return random.integers(low, min(high, low + 20), shape, endpoint=True)
    return random.integers(low, high, shape, endpoint=True)
