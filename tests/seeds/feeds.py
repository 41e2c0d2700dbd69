"""What a published artifact is asked by the tests: sizes and values of their own.

None of the sizes is one of the capture's or of the verification's where the range leaves a choice
(both like primes and the ends of the range; these are composite), and the seeds are others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from modelexport_api.sizes import size_at
from seeds.case import Array, Case

_COMPOSITES = [size for size in range(4, 200) if any(size % d == 0 for d in range(2, size))]
_NUMBERS = {"Int": "int64", "Float": "float32", "Bool": "bool"}
_KEPT = {"AttentionMask": True, "PaddingMask": False}
_BITS = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


def feeds_for(case: Case) -> Iterator[dict[str, Array]]:
    """Yield what the artifact and eager are both asked."""
    lowest = {name: low for name, (low, _) in case.dims.items()}
    first = choose_sizes(case.dims, _COMPOSITES)
    second = choose_sizes(case.dims, _COMPOSITES[2:], avoided=first.values())
    yield _draw(case.inputs, first, np.random.default_rng(7001), _normal)
    yield _draw(case.inputs, second, np.random.default_rng(7002), _wide)
    if case.dims:
        yield _draw(case.inputs, lowest, np.random.default_rng(7003), _normal)
    if case.edges:
        edges = np.array(case.edges)
        yield _draw(case.inputs, first, np.random.default_rng(7004), _picked(edges))
    for feed in case.feeds:
        yield {name: np.asarray(values) for name, values in feed.items()}


def choose_sizes(
    dims: Mapping[str, tuple[int, int]], liked: Sequence[int], avoided: Iterable[int] = ()
) -> dict[str, int]:
    """Return a size inside each range: one of those liked, different from each other."""
    taken = set(avoided)
    sizes: dict[str, int] = {}
    for name, (low, high) in dims.items():
        inside = [size for size in liked if low < size < high and size not in taken]
        anywhere = [size for size in range(low, min(high, low + 50) + 1) if size not in taken]
        sizes[name] = next(iter([*inside, *reversed(anywhere), high]))
        taken.add(sizes[name])
    return sizes


def _draw(
    inputs: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    floats: Any,  # noqa: ANN401 - a function of rng and shape
) -> dict[str, Array]:
    feed: dict[str, Array] = {}
    for entry in (leaf for declared in inputs for leaf in _leaves(declared)):
        shape = tuple(size_at(size, sizes) for size in entry.get("shape", ()))
        feed[entry["name"]] = _one(entry, shape, rng, floats)
        if entry.get("kind") in _KEPT:  # at a place of each row that is drawn, too
            rows = feed[entry["name"]].reshape(-1, shape[-1])
            places = rng.integers(0, shape[-1], len(rows))
            rows[np.arange(len(rows)), places] = _KEPT[entry["kind"]]
    return feed


def _leaves(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the tensors that stand for a declared input of any kind."""
    kind = entry.get("kind", "Tensor")
    if kind == "Sequence":
        for place in range(entry["length"]):
            yield {**entry, "name": f"{entry['name']}.{place}"}
    elif kind in _NUMBERS:
        yield {**entry, "dtype": _NUMBERS[kind], "shape": []}
    elif kind != "Constant":
        yield entry


def _one(entry: Mapping[str, Any], shape: Any, rng: np.random.Generator, floats: Any) -> Array:  # noqa: ANN401
    dtype = entry.get("dtype", "float32")
    low, high = entry.get("range", (None, None))
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if dtype not in _BITS:
        low, high = (0, 1) if low is None else (math.ceil(low), math.floor(high))
        return np.asarray(rng.integers(low, high, shape, endpoint=True)).astype(dtype)
    if low is None:
        return np.asarray(floats(rng, shape)).astype(_BITS[dtype])
    if math.isfinite(low) and high - low < 1e6:
        inside = np.clip(floats(rng, shape), low, high)
        spread = rng.uniform(low, high, shape)
        return np.asarray(np.where(rng.random(shape) < 0.5, inside, spread)).astype(_BITS[dtype])
    return np.asarray(np.clip(floats(rng, shape), low, high)).astype(_BITS[dtype])


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(rng.standard_normal(shape))


def _wide(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(rng.uniform(-6, 6, shape))


def _picked(values: Array) -> Any:  # noqa: ANN401
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Return all values in a shuffled order, again and again."""
        count = math.prod(shape)
        rounds = -(-count // len(values))
        return np.concatenate([rng.permutation(values) for _ in range(max(rounds, 1))])[
            :count
        ].reshape(shape)

    return draw
