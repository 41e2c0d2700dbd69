"""The values of integer inputs without a declared range: searched by what eager PyTorch accepts.

Ids are accepted up to the size of the table that they look up, and a file that confuses `ids >> 1`
with `ids - ids` agrees on 0 and 1. The search doubles and halves: about 30 calls for a vocabulary.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import DType, Input, InputKind, ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, concrete_shape
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import FLOATS, NUMPY_DTYPES, draw

Array = NDArray[Any]
Accepts = Callable[[Mapping[str, Array]], bool]
"""Runs the model on arrays by input; false where it raises, or where it takes too much."""

WIDEST = 2**25
"""No integer beyond is tried without a declared range. Single precision counts up to 2^24."""
WIDEST_EXACT = 2**62
"""The same for an input that leads to integers only, which are exact at any size."""
WIDEST_NUMBER = 16
"""The same for a Python number, which may be the length of a loop."""
SECONDS = 5.0
"""Time of the whole search. After that, what was found so far counts."""
TRIED = (Values.NORMAL, Values.LARGE, Values.MAGNITUDES, Values.REPEATED)
_UNKNOWN = frozenset({DType.BOOL, DType.STRING}) | FLOATS


def needs_ranges(spec: ModelExportSpec) -> bool:
    """Return whether an integer input declares no range."""
    return any(_is_open(entry) for entry in spec.inputs)


def infer_ranges(
    spec: ModelExportSpec,
    accepts: Accepts,
    integers_only: Callable[[Mapping[str, Array]], Collection[str]] = lambda _arrays: (),
    clock: Callable[[], float] = time.monotonic,
) -> ModelExportSpec:
    """Return the spec with a range for each integer input that declares none.

    `integers_only`: returns the inputs that lead to integers only, of a run on these arrays.
    """
    search = _Search(spec, accepts, integers_only, clock)
    found = {entry.name: search.range_of(entry) for entry in spec.inputs if _is_open(entry)}
    return _with_ranges(spec, search.shrink_until_accepted(found))


def _is_open(entry: Input) -> bool:
    return entry.range is None and entry.dtype not in _UNKNOWN


def _with_ranges(
    spec: ModelExportSpec, ranges: Mapping[str, tuple[float, float] | None]
) -> ModelExportSpec:
    inputs = [entry.model_copy(update={"range": _range_of(entry, ranges)}) for entry in spec.inputs]
    return spec.model_copy(update={"inputs": inputs})


def _range_of(entry: Input, ranges: Mapping[str, tuple[float, float] | None]) -> list[float] | None:
    found = ranges.get(entry.name)
    return entry.range if found is None else [*found]


class _Search:
    def __init__(
        self,
        spec: ModelExportSpec,
        accepts: Accepts,
        integers_only: Callable[[Mapping[str, Array]], Collection[str]],
        clock: Callable[[], float],
    ) -> None:
        self._spec = spec
        self._accepts = accepts
        self._clock = clock
        self._until = clock() + SECONDS
        sizes = DimSizes.of(spec)
        self._sizes = (sizes.lowest, sizes.between)
        self._arrays = draw(spec.inputs, Sample(sizes.captured, Values.NORMAL, 0))
        self._captured = sizes.captured
        self._exact = integers_only(self._arrays)

    def range_of(self, entry: Input) -> tuple[float, float] | None:
        """Return the accepted values around 0 or 1; None if neither is accepted."""
        start = next((value for value in (1, 0) if self._takes(entry, value)), None)
        if start is None:
            return None
        info = np.iinfo(NUMPY_DTYPES[entry.dtype])
        widest = WIDEST if entry.kind is InputKind.TENSOR else WIDEST_NUMBER
        if entry.kind is InputKind.TENSOR and entry.name in self._exact:
            widest = WIDEST_EXACT
        high = self._farthest(entry, start, min(int(info.max), widest))
        low = self._farthest(entry, start, max(int(info.min), -widest))
        return float(low), float(high)

    def _farthest(self, entry: Input, start: int, end: int) -> int:
        """Return the accepted value that is farthest from `start` in the direction of `end`."""
        sign = 1 if end > start else -1
        accepted, step, refused = start, 1, None
        while accepted != end and refused is None and not self._is_late():
            value = start + sign * min(step, abs(end - start))
            if self._takes(entry, value):
                accepted = value
                step *= 2
            else:
                refused = value
        while refused is not None and abs(refused - accepted) > 1 and not self._is_late():
            middle = (accepted + refused) // 2
            if self._takes(entry, middle):
                accepted = middle
            else:
                refused = middle
        return accepted

    def shrink_until_accepted(
        self, found: Mapping[str, tuple[float, float] | None]
    ) -> dict[str, tuple[float, float] | None]:
        """Return ranges of which drawn samples are accepted, too: half as wide until they are."""
        ranges = dict(found)
        opened = list(ranges)
        while any(ranges[name] is not None for name in opened):
            if self._accepts_drawn(_with_ranges(self._spec, ranges).inputs):
                return ranges
            ranges |= {name: _half(ranges[name]) for name in opened}
        return ranges

    def _accepts_drawn(self, inputs: Sequence[Input]) -> bool:
        return all(
            self._accepts(draw(inputs, Sample(sizes, values, seed)))
            for seed, (sizes, values) in enumerate(product(self._sizes, TRIED))
        )

    def _takes(self, entry: Input, value: int) -> bool:
        shape = concrete_shape(entry, self._captured)
        filled = np.full(shape, value, dtype=NUMPY_DTYPES[entry.dtype])
        return self._accepts({**self._arrays, entry.name: filled})

    def _is_late(self) -> bool:
        return self._clock() > self._until


def _half(found: tuple[float, float] | None) -> tuple[float, float] | None:
    if found is None or found[1] <= 1:
        return None
    low, high = found
    return (max(low, 0.0) if low >= 0 else float(int(low / 2))), float(int(high / 2))
