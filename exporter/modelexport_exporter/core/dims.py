"""The sizes of dynamic dims at which a model is captured, compared and measured.

torch specializes on sizes 0 and 1, and takes two dims of one size for the same dim. So the capture
runs at sizes that are neither, and differ from each other and from the constant dims, where the
ranges allow it. The sizes between are primes, and none that the capture ran with: a number that the
capture fixed never agrees by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from modelexport_api.sizes import DimExpression, dims_of_shapes, is_derived, size_at
from modelexport_api.spec import Dim, Input, ModelExportSpec

ANY_RANK = "..."
"""Stands for all dims of a tensor for which a file declares no shape."""

_PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73)
_SMALL = 2
"""Up to this min a dim takes any size, and odd ones detect more; above, multiples of min are used:
a dim that begins at 32 is often one of multiples of 32."""


class HasShape(Protocol):
    """An array of any library."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its sizes."""


@dataclass(frozen=True)
class DimSizes:
    """Sizes by the name of the dim, made once from a spec."""

    lowest: dict[str, int]
    captured: dict[str, int]
    """The sizes of the capture, in the order of first use."""
    between: dict[str, int]
    """Different from each other and from the captured ones."""
    highest: dict[str, int]

    @staticmethod
    def of(spec: ModelExportSpec) -> DimSizes:
        """Return the sizes for a spec."""
        captured = _capture_sizes(spec)
        return DimSizes(
            {name: dim.min for name, dim in spec.dims.items()},
            captured,
            sizes_between(spec.dims, avoided=captured.values()),
            {name: dim.max for name, dim in spec.dims.items()},
        )

    def is_dynamic(self, name: str) -> bool:
        """Return whether the dim takes more than one size."""
        return self.lowest[name] < self.highest[name]

    def range_of(self, name: str) -> str:
        """Return `1..64`."""
        return f"{self.lowest[name]}..{self.highest[name]}"


def distinct(*sizes: dict[str, int]) -> list[dict[str, int]]:
    """Return sizes without those that occurred before."""
    return [own for place, own in enumerate(sizes) if own not in sizes[:place]]


def is_dynamic(dim: Dim) -> bool:
    """Return whether a dim takes more than one size."""
    return dim.min < dim.max


def part_of_dim(low: int, high: int) -> Dim:
    """Return the sizes of a part of a dim, which may be 0 alone: no spec declares that."""
    return Dim.model_construct(min=low, max=high)


def used_dims(inputs: Sequence[Input]) -> list[str]:
    """Return the names of the dims, each once, in the order of their first use."""
    return dims_of_shapes(entry.shape for entry in inputs)


def dynamic_size(size: int | str, dims: Mapping[str, Dim]) -> DimExpression | int:
    """Return an entry of `shape` where the dims of one size are numbers."""
    if isinstance(size, int):
        return size
    fixed = {name: dim.min for name, dim in dims.items() if not is_dynamic(dim)}
    return DimExpression.parse(size).with_sizes(fixed)


def range_of(size: DimExpression, dims: Mapping[str, Dim]) -> tuple[int, int]:
    """Return the smallest and the largest size of an expression."""
    return (
        size.at({name: dims[name].min for name in size.dims}),
        size.at({name: dims[name].max for name in size.dims}),
    )


def concrete_shape(entry: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the input's shape at the given sizes."""
    return tuple(size_at(size, sizes) for size in entry.shape)


def sizes_of(inputs: Iterable[Input], arrays: Mapping[str, HasShape]) -> dict[str, int]:
    """Return the sizes of the dims, as the arrays have them."""
    found = [
        (DimExpression.parse(declared), size)
        for entry in inputs
        if entry.name in arrays and len(arrays[entry.name].shape) == len(entry.shape)
        for declared, size in zip(entry.shape, arrays[entry.name].shape, strict=True)
        if isinstance(declared, str)
    ]
    sizes: dict[str, int] = {}
    for declared, size in sorted(found, key=lambda one: len(one[0].dims)):  # others solve sums
        solved = declared.solved_at(size, sizes)
        if solved is not None:
            sizes |= [solved]
    return sizes


def sizes_between(dims: Mapping[str, Dim], avoided: Iterable[int] = ()) -> dict[str, int]:
    """Return a size between minimum and maximum for each dim: primes, different from each other."""
    chosen: dict[str, int] = {}
    taken = set(avoided)
    for name, dim in dims.items():
        chosen[name] = _size_between(dim, taken)
        taken.add(chosen[name])
    return chosen


def in_spread_order(dim: Dim) -> list[int]:
    """Return all sizes of the dim: its ends, powers of two and their neighbours, then halves.

    Any beginning of the list is spread over the range.
    """
    near_powers = [2**power + step for power in range(1, 24) for step in (0, -1, 1)]
    known = [dim.min, dim.min + 1, dim.max, dim.max - 1, *near_powers]
    ordered = dict.fromkeys(size for size in known if dim.min <= size <= dim.max)
    span = dim.max - dim.min + 1
    step = 1 << span.bit_length()
    while step > 1 and len(ordered) < span:
        half = step // 2
        ordered |= dict.fromkeys(range(dim.min + half - 1, dim.max + 1, step))
        step = half
    return [*ordered, *(size for size in range(dim.min, dim.max + 1) if size not in ordered)]


def middle_of(dim: Dim) -> int:
    """Return the size above the middle, 257 for 1..512; a multiple of the least one above 2."""
    middle = min((dim.min + dim.max) // 2 + 1, dim.max)
    return middle if dim.min <= _SMALL else middle - middle % dim.min


def likely_sizes(dim: Dim, named: Sequence[int] = ()) -> list[int]:
    """Return the sizes at which a file is likeliest to differ, the likeliest first.

    Numbers of the model, the ends and the middle, and powers of two, in blocks of which kernels
    work, the cheapest first; each also with its neighbours.
    """
    middle = middle_of(dim)
    powers = [2**power for power in range(1, dim.max.bit_length() + 1)]
    found = [number + step for number in named for step in (0, 1, -1)]
    found += [dim.min, dim.max, middle, middle - 1]
    found += [power + step for power in powers for step in (0, 1, -1)]
    return list(dict.fromkeys(size for size in found if dim.min <= size <= dim.max))


def _capture_sizes(spec: ModelExportSpec) -> dict[str, int]:
    taken = {size for entry in spec.inputs for size in entry.shape if isinstance(size, int)}
    sizes: dict[str, int] = {}
    for name in used_dims(spec.inputs):
        derived = [own.with_sizes(sizes) for own in _derived_sizes(spec.inputs)]
        own = [size for size in derived if not isinstance(size, int) and size.dims == (name,)]
        sizes[name] = _capture_size(spec.dims[name], taken, own)
        taken |= {sizes[name], *(size.at(sizes) for size in own)}
    return sizes


def _derived_sizes(inputs: Sequence[Input]) -> list[DimExpression]:
    """Return the expressions, such as `n - 1`, that occur in the shapes of inputs."""
    sizes = (size for entry in inputs for size in entry.shape if isinstance(size, str))
    found = dict.fromkeys(DimExpression.parse(size) for size in sizes)
    return [own for own in found if not own.is_plain]


def has_derived_sizes(inputs: Sequence[Input]) -> bool:
    """Return whether a size of an input is an expression of a dim."""
    return any(is_derived(size) for entry in inputs for size in entry.shape)


def _capture_size(dim: Dim, taken: set[int], derived: Sequence[DimExpression]) -> int:
    def is_free(size: int) -> bool:
        further = [own.at({own.dim: size}) for own in derived]
        return taken.isdisjoint([size, *further]) and min(further, default=_SMALL) >= _SMALL

    allowed = [size for size in _candidates(dim) if dim.min <= size <= dim.max]
    fallback = min(max(dim.min, _SMALL), dim.max)
    return next(filter(is_free, allowed), fallback)


def _candidates(dim: Dim) -> Iterator[int]:
    if dim.min <= _SMALL:
        yield from chain(_PRIMES, range(_SMALL, max(_PRIMES)))
    else:
        yield from (dim.min * factor for factor in range(1, 9))
        yield from range(dim.min, dim.min + 64)


def _size_between(dim: Dim, taken: set[int]) -> int:
    """Return the prime nearest to the geometric mean that no other dim has taken, if there is one.

    The geometric mean keeps the sample small: 23 for 1..512.
    """
    middle = round(math.sqrt(max(dim.min, 1) * dim.max))
    fallback = min(max(middle, dim.min), dim.max)
    first_prime: int | None = None
    for size in _outward(middle, dim.min + 1, dim.max - 1):
        if _is_prime(size):
            if size not in taken:
                return size
            first_prime = size if first_prime is None else first_prime
    return fallback if first_prime is None else first_prime


def _outward(middle: int, low: int, high: int) -> Iterator[int]:
    """Yield the integers of [low, high] by their distance from the middle, 1000 at most."""
    for distance in range(1000):
        for size in {middle - distance, middle + distance}:
            if low <= size <= high:
                yield size


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def describe_sizes(dims: Mapping[str, int]) -> str:
    """Return `batch=7, seq=23`; `the declared shapes` without dims."""
    return ", ".join(f"{name}={size}" for name, size in dims.items()) or "the declared shapes"
