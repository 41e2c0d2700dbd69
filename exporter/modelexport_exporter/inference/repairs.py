"""What to try after a refusal: the likeliest guesses first, pure.

The sizes that are tried are primes that differ, so that a size in a refusal names its axis. A size
that no axis has is a function of some, such as the length of a flattened image: these are scaled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from modelexport_api.spec import DType, InputKind
from modelexport_exporter.inference.first_guess import (
    as_dtype,
    from_layer,
    is_mask_name,
    mask_kind,
)
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses
from modelexport_exporter.inference.layers import Layer
from modelexport_exporter.inference.ranks import (
    changeable,
    other_ranks,
    ranks_in_text,
    ranks_that_meet,
    unpacked,
)
from modelexport_exporter.inference.refusal import Refusal, Shape
from modelexport_exporter.sampling.masks import KEPT

_LARGEST = 2048
_NO_TENSOR = re.compile(r"'Tensor' object has no attribute")
_TOO_SMALL = re.compile(
    r"can't be greater than|too small|smaller than|less than|at least|should be greater"
)
_LEAST_SCALED = 4


@dataclass(frozen=True)
class Known:
    """What is known of the module."""

    layers: Sequence[Layer]
    floating: DType
    settings: Sequence[int] = ()
    """Integers among the attributes of modules: `image_size`."""


def repairs(guesses: Guesses, refusal: Refusal, known: Known) -> Iterator[Guesses]:
    """Yield other guesses, the likeliest first. Inputs that the user states stay as they are."""
    if _NO_TENSOR.search(refusal.text):
        yield from _numbers(guesses)
        return
    if refusal.op.startswith("embedding"):
        yield from _layers(guesses, [layer for layer in known.layers if layer.rows is not None])
    if not refusal.op or _is_about_dtypes(refusal):
        yield from _dtypes(guesses, refusal, known)
    if _TOO_SMALL.search(refusal.text):
        yield from _grown(guesses)
    yield from unpacked(guesses, refusal)
    yield from ranks_that_meet(guesses, refusal)
    yield from ranks_in_text(guesses, refusal)
    yield from _ties(guesses, refusal)
    yield from _sizes(guesses, refusal)
    yield from _scaled(guesses, refusal)
    yield from _layers(guesses, known.layers)
    if refusal.op and not _is_about_dtypes(refusal):
        yield from _dtypes(guesses, refusal, known)
    yield from _same_places(guesses)
    yield from other_ranks(guesses)
    yield from _settings(guesses, known)
    yield from _numbers(guesses)


def _is_about_dtypes(refusal: Refusal) -> bool:
    return any(
        word in refusal.text
        for word in ("dtype", "type", "Long", "Float", "Bool", "indices", "integer")
    )


def _dtypes(guesses: Guesses, refusal: Refusal, known: Known) -> Iterator[Guesses]:
    """Yield other dtypes of one input: those that the refusal names first."""
    text = refusal.text
    wanted = [DType.INT64, known.floating, DType.BOOL]
    if "indices" not in text and "Long" not in text and ("Bool" in text or "bool" in text):
        wanted.insert(0, DType.BOOL)
    for one in guesses.inputs:
        for dtype in dict.fromkeys(wanted):
            if one.is_tensor and dtype is not one.dtype and "dtype" not in one.stated:
                yield guesses.with_input(_with_dtype(one, dtype))


def _with_dtype(guess: Guess, dtype: DType) -> Guess:
    kind = guess.kind
    if "kind" in guess.stated:
        return as_dtype(guess, dtype, None)
    if kind in KEPT and "float" in dtype.value:
        kind = InputKind.TENSOR
    elif is_mask_name(guess.name) and "float" not in dtype.value:
        kind = mask_kind(guess.name)
    limits = (
        (0.0, 1.0) if dtype in {DType.INT64, DType.INT32} and kind is InputKind.TENSOR else None
    )
    return as_dtype(replace(guess, kind=kind), dtype, limits)


def _sizes(guesses: Guesses, refusal: Refusal) -> Iterator[Guesses]:
    """Yield guesses in which the size of an axis is one that the weights or the text name."""
    passed = dict.fromkeys(size for shape in refusal.activations for size in shape)
    fixed = dict.fromkeys(size for shape in refusal.weights for size in _fixed_by(shape, refusal))
    numbers = refusal.numbers
    tried = {guesses.sizes[axis] for axis in guesses.free}
    candidates = [*passed, *(number for number in numbers if number not in passed)]
    wanted = [
        *(size for size in numbers if size in fixed),
        *(size for size in numbers if size not in fixed and size not in tried),
        *(size for size in fixed if size not in numbers),
        *refusal.stated,
    ]
    for size in sorted(candidates, key=lambda one: one not in numbers):
        for axis in guesses.of_size(size):
            if axis == BATCH:
                continue
            for other in dict.fromkeys(wanted):
                if other != size and 0 < other <= _LARGEST * 16:
                    known = other in fixed
                    change = guesses.with_known if known else guesses.with_size
                    yield change(axis, other)


def _fixed_by(shape: Shape, refusal: Refusal) -> Shape:
    """Return the sizes of a weight that an input may have to have: no kernel's."""
    return shape[:2] if refusal.op.startswith("convolution") else shape


def _ties(guesses: Guesses, refusal: Refusal) -> Iterator[Guesses]:
    """Yield guesses in which two sizes that met in the refusal are equal."""
    met = [size for shape in refusal.activations for size in shape]
    axes = [
        axis for size in dict.fromkeys([*met, *refusal.numbers]) for axis in guesses.of_size(size)
    ]
    places = {axis: one.axes.index(axis) for one in guesses.inputs for axis in one.axes}
    pairs = [(one, other) for place, one in enumerate(axes) for other in axes[place + 1 :]]

    def unlikely(pair: tuple[str, str]) -> tuple[bool, bool]:
        return BATCH in pair, places[pair[0]] != places[pair[1]]

    for one, other in sorted(pairs, key=unlikely):
        yield from _tied(guesses, one, other)


def _tied(guesses: Guesses, one: str, other: str) -> Iterator[Guesses]:
    """Yield the guesses with two sizes made one; the user's names stay, then the batch."""
    stated = {axis for entry in guesses.inputs if entry.name in guesses.said for axis in entry.axes}
    if one in stated and other in stated:
        return
    if BATCH in {one, other} and any({one, other} <= {*entry.axes} for entry in guesses.inputs):
        return
    kept, gone = (other, one) if other in stated or other == BATCH else (one, other)
    if gone not in stated:
        yield guesses.renamed(gone, kept)


def _same_places(guesses: Guesses) -> Iterator[Guesses]:
    """Yield guesses in which sizes at the same place of two inputs are equal."""
    for one, other in combinations(guesses.inputs, 2):
        for kept, gone in zip(one.axes, other.axes, strict=False):
            if kept != gone and {kept, gone} & {*guesses.free}:
                yield from _tied(guesses, kept, gone)


def _scaled(guesses: Guesses, refusal: Refusal) -> Iterator[Guesses]:
    """Yield guesses in which the sizes that a refused one depends on are scaled towards it."""
    groups = _scalable(guesses)
    for found, wanted in _lengths(refusal, guesses):
        for axes in groups:
            factor = (wanted / found) ** (1 / len(axes))
            sizes = [guesses.sizes[axis] for axis in axes]
            mean = math.exp(sum(map(math.log, sizes)) / len(sizes))
            size = max(round(mean * factor), 1)
            if size > _LARGEST:
                continue
            scaled = guesses
            for axis in axes:
                scaled = scaled.with_size(axis, size)
            yield scaled
    yield from _grown(guesses)


def _grown(guesses: Guesses) -> Iterator[Guesses]:
    """Yield guesses with larger sizes: these are too small for the model's pools and kernels."""
    for axes in _scalable(guesses):
        grown = guesses
        for axis in axes:
            grown = grown.with_size(axis, min(guesses.sizes[axis] * 2, _LARGEST))
        yield grown


def _scalable(guesses: Guesses) -> list[tuple[str, ...]]:
    """Return the axes that are scaled together: those of pictures and signals of one input."""
    free = set(guesses.free) - {BATCH}
    groups = []
    for one in guesses.inputs:
        axes = tuple(axis for axis in one.axes if axis in free)
        if one.name not in guesses.said and axes:
            groups.append(axes)
    return groups


def _lengths(refusal: Refusal, guesses: Guesses) -> Iterator[tuple[int, int]]:
    """Yield what an op got and what it takes, where no input has what it got."""
    if refusal.op.endswith(("view", "reshape")) and refusal.activations and refusal.stated:
        wanted = math.prod(size for size in refusal.stated if size > 0)
        batch = guesses.sizes.get(BATCH, 1)
        if batch in refusal.stated:
            wanted //= batch
        yield max(math.prod(refusal.activations[0]) // batch, 1), max(wanted, 1)
    seen = {size for one in guesses.inputs for size in guesses.shape(one)}
    numbers = refusal.numbers
    weights = {size for shape in refusal.weights for size in shape}
    for shape in refusal.activations:
        for size in shape:
            if size in seen or not size:
                continue
            for other in sorted(weights, key=lambda one: one not in numbers):
                if other != size and other >= _LEAST_SCALED:
                    yield size, other


def _layers(guesses: Guesses, layers: Sequence[Layer]) -> Iterator[Guesses]:
    """Yield guesses in which an input is what another layer takes."""
    for one in changeable(guesses):
        if not one.is_tensor:
            continue
        for layer in layers:
            changed, constants = from_layer(one, layer)
            if len(changed.axes) != len(one.axes) or changed.dtype is not one.dtype:
                fixed = {f"{axis}'": size for axis, size in constants.items()}
                axes = tuple(f"{axis}'" if axis in constants else axis for axis in changed.axes)
                changed = replace(changed, axes=axes)
                found = guesses
                for axis, size in fixed.items():
                    found = found.with_known(axis, size)
                yield found.with_input(changed)


def _settings(guesses: Guesses, known: Known) -> Iterator[Guesses]:
    """Yield guesses with sizes that the attributes of the module name."""
    for axis in guesses.free:
        if axis != BATCH:
            for size in known.settings:
                yield guesses.with_known(axis, size)


def _numbers(guesses: Guesses) -> Iterator[Guesses]:
    """Yield guesses in which an input is a Python number."""
    for one in changeable(guesses):
        if one.is_tensor:
            yield guesses.with_input(
                replace(one, dtype=DType.INT64, axes=(), kind=InputKind.INT, range=None)
            )
