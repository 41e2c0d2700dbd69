"""A guess of what forward takes: for each input a dtype and a name for the size of each axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from modelexport_api.sizes import dims_of, size_at
from modelexport_api.spec import DType, InputKind

BATCH = "batch"
_PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89)
"""Sizes that nothing has been said about: each is recognised where an op refuses it."""
BATCH_SIZE = 3
MOST_ELEMENTS = 1 << 24
"""Of all inputs of a trial run: 64 MiB of float32, and a multiple of that in the model."""
_NUMBERS = {InputKind.INT, InputKind.FLOAT, InputKind.BOOL, InputKind.CONSTANT}


@dataclass(frozen=True)
class Guess:
    """One parameter of forward."""

    name: str
    dtype: DType
    axes: tuple[str, ...]
    """Names of sizes; equal names are equal sizes."""
    kind: InputKind = InputKind.TENSOR
    range: tuple[float, float] | None = None
    length: int | None = None
    """Of a Sequence."""
    value: Any = None
    """Of a Constant."""
    stated: frozenset[str] = frozenset()
    """What the user states: `dtype`, `range`."""

    @property
    def is_tensor(self) -> bool:
        """Return whether it has a shape."""
        return self.kind not in _NUMBERS


@dataclass(frozen=True)
class Guesses:
    """All parameters, and the sizes that are tried."""

    inputs: tuple[Guess, ...]
    sizes: Mapping[str, int]
    known: frozenset[str] = frozenset()
    """Names of sizes that are not to be changed: the user or the model states them."""
    said: frozenset[str] = frozenset()
    """Names of inputs whose shape the user states."""

    def shape(self, guess: Guess) -> tuple[int, ...]:
        """Return the shape that is tried for an input."""
        return tuple(
            size_at(axis, self.sizes) if is_expression(axis) else self.sizes[axis]
            for axis in guess.axes
        )

    def with_size(self, axis: str, size: int) -> Guesses:
        """Return these guesses with another size."""
        return replace(self, sizes={**self.sizes, axis: size})

    def with_known(self, axis: str, size: int) -> Guesses:
        """Return these guesses with a size that the model states."""
        return replace(self.with_size(axis, size), known=self.known | {axis})

    def with_input(self, changed: Guess) -> Guesses:
        """Return these guesses with another one of the same name, or with one more."""
        inputs = {one.name: one for one in self.inputs} | {changed.name: changed}
        return replace(self, inputs=tuple(inputs.values())).with_sizes_of(changed.axes)

    def with_sizes_of(self, axes: Iterable[str]) -> Guesses:
        """Return these guesses with a size for each axis that has none."""
        sizes = dict(self.sizes)
        for dim in (dim for axis in axes for dim in dims_in(axis)):
            if dim not in sizes:
                sizes[dim] = BATCH_SIZE if dim == BATCH else unused_size(sizes.values())
        return replace(self, sizes=sizes)

    def renamed(self, old: str, new: str) -> Guesses:
        """Return these guesses with two sizes made one."""
        inputs = tuple(
            replace(one, axes=tuple(new if axis == old else axis for axis in one.axes))
            for one in self.inputs
        )
        sizes = {axis: size for axis, size in self.sizes.items() if axis != old}
        return replace(self, inputs=inputs, sizes=sizes)

    @property
    def elements(self) -> int:
        """Return the number of elements of all inputs."""
        return sum(math.prod(self.shape(one)) for one in self.inputs if one.is_tensor)

    @property
    def used(self) -> tuple[str, ...]:
        """Return the names of sizes, in the order of the inputs' axes."""
        found = dict.fromkeys(axis for one in self.inputs for axis in one.axes)
        return tuple(axis for axis in found if axis in self.sizes)

    @property
    def free(self) -> tuple[str, ...]:
        """Return the names of sizes that may be changed, in the order of the inputs' axes."""
        return tuple(axis for axis in self.used if axis not in self.known)

    def of_size(self, size: int) -> tuple[str, ...]:
        """Return the names of the sizes that may be changed and are tried with this number."""
        return tuple(axis for axis in self.free if self.sizes[axis] == size)

    @property
    def are_stated(self) -> bool:
        """Return whether the user states all shapes."""
        return all(one.name in self.said for one in self.inputs if one.is_tensor)

    def is_first(self, axis: str) -> bool:
        """Return whether an axis is the first of each input that has it, as a batch is."""
        return all(one.axes[0] == axis for one in self.inputs if axis in one.axes)

    def described(self) -> str:
        """Return `x: float32[3, 11], n: Int`."""
        return ", ".join(
            f"{one.name}: {one.dtype.value}{list(self.shape(one))}"
            if one.is_tensor
            else f"{one.name}: {one.kind.value}"
            for one in self.inputs
        )


def new_axes(
    name: str, rank: int, constants: Mapping[int, int]
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return names for the axes of an input, the first its batch, and the sizes that are known.

    `constants`: sizes by axis.
    """
    axes = tuple(
        BATCH if axis == 0 and axis not in constants else f"{name}.{axis}" for axis in range(rank)
    )
    return axes, {axes[axis]: size for axis, size in constants.items()}


def unused_size(taken: Iterable[int]) -> int:
    """Return a size that no other axis has."""
    used = set(taken)
    return next((prime for prime in _PRIMES if prime not in used), max(used, default=0) + 2)


def dims_in(axis: str) -> tuple[str, ...]:
    """Return the dims of an axis: its own name, or those of an expression."""
    return dims_of(axis) if is_expression(axis) else (axis,)


def is_expression(axis: str) -> bool:
    """Return whether a size follows from another one: `n - 1`."""
    return any(sign in axis for sign in "+-*")
