"""Sizes for dynamic dims: which ones the capture runs with, and which ones the spec allows.

torch specialises on sizes 0 and 1, and takes two dims of one size for the same dim; so the
capture runs at sizes that are neither, and differ from each other and from the constant dims,
where the ranges allow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from modelexport_api.spec import Dim, Input, ModelExportSpec

_PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73)
_SMALL = 2
"""Up to this min a dim takes any size, so odd ones show more; above, multiples of min do."""


def capture_sizes(spec: ModelExportSpec) -> dict[str, int]:
    """Return one size for each dynamic dim, in the order of their first use."""
    taken = {size for entry in spec.inputs for size in entry.shape if isinstance(size, int)}
    sizes: dict[str, int] = {}
    for name in used_dims(spec.inputs):
        size = _choose(spec.dims[name], taken)
        sizes[name] = size
        taken.add(size)
    return sizes


def used_dims(inputs: Sequence[Input]) -> list[str]:
    """Return the names of the dims, each once, in the order of their first use."""
    names = (size for entry in inputs for size in entry.shape if isinstance(size, str))
    return list(dict.fromkeys(names))


def is_dynamic(dim: Dim) -> bool:
    """Tell whether the dim takes more than one size."""
    return dim.min < dim.max


def concrete_shape(entry: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the input's shape at the given sizes."""
    return tuple(size if isinstance(size, int) else sizes[size] for size in entry.shape)


def _choose(dim: Dim, taken: set[int]) -> int:
    allowed = [size for size in _candidates(dim) if dim.min <= size <= dim.max]
    fallback = min(max(dim.min, _SMALL), dim.max)
    return next((size for size in allowed if size not in taken), fallback)


def _candidates(dim: Dim) -> Iterator[int]:
    if dim.min <= _SMALL:
        yield from chain(_PRIMES, range(_SMALL, max(_PRIMES)))
    else:
        yield from (dim.min * factor for factor in range(1, 9))
        yield from range(dim.min, dim.min + 64)
