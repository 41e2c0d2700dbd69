"""Shapes and small values of a file at many sizes at once: the arrays that rules compute with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import onnx
from numpy.typing import NDArray

T = TypeVar("T")
Integers = NDArray[np.int64]
Size = Integers | None
"""One number for each combination of sizes, [combinations], or [1] where it is always the same;
None: unknown."""
Shape = tuple[Size, ...]
Values = NDArray[Any]
"""[combinations or 1, …]: a value of the file, such as the shape that a Reshape takes."""


@dataclass(frozen=True)
class Operands:
    """What a rule knows of a node: None for an input that is left out or unknown."""

    node: onnx.NodeProto
    shapes: Sequence[Shape | None]
    values: Sequence[Values | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def shape(self, place: int) -> Shape:
        """Return the shape of an input. Raises UnknownError."""
        return known(self.shapes[place] if place < len(self.shapes) else None)

    def value(self, place: int) -> Values | None:
        """Return the value of an input that may be left out."""
        given = place < len(self.node.input) and self.node.input[place]
        return known(self.values[place]) if given else None

    def numbers(self, place: int) -> list[int] | None:
        """Return an input that is the same at all sizes; None if it is left out."""
        value = self.value(place)
        return None if value is None else constant(value)

    def axes(self, place: int) -> list[int] | None:
        """Return axes, which are an attribute in old opsets, and an input in new ones."""
        own = self.attributes.get("axes")
        return [int(axis) for axis in own] if own is not None else self.numbers(place)


class UnknownError(Exception):
    """A rule does not know enough."""


def known(found: T | None) -> T:
    """Return what is known. Raises UnknownError."""
    if found is None:
        raise UnknownError
    return found


def number(value: int) -> Integers:
    """Return a size that is always the same."""
    return np.array([value], np.int64)


def constant(value: Values) -> list[int]:
    """Return the integers of a value that is always the same. Raises UnknownError."""
    if len(value) != 1:
        raise UnknownError
    return [int(entry) for entry in value.reshape(-1)]


def columns(value: Values) -> list[Integers]:
    """Return the numbers of a list, each at all sizes."""
    return [column.astype(np.int64) for column in value.reshape(len(value), -1).T]


def product(sizes: Sequence[Size]) -> Integers:
    """Return the number of elements. Raises UnknownError."""
    total = number(1)
    for size in sizes:
        total = total * known(size)
    return total


def is_number(size: Size, value: int) -> bool:
    """Return whether a size is known to be always this one."""
    return size is not None and bool((size == value).all())


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape of an elementwise result."""
    rank = max(map(len, shapes))
    aligned = [(number(1),) * (rank - len(shape)) + shape for shape in shapes]
    result: list[Size] = []
    for sizes in zip(*aligned, strict=True):
        found: Size = number(1)
        for size in sizes:
            found = _broadcast_two(found, size)
        result.append(found)
    return tuple(result)


def _broadcast_two(one: Size, other: Size) -> Size:
    if one is None or other is None:
        size = other if one is None else one
        return size if size is not None and bool((size > 1).all()) else None
    return np.where(one == 1, other, one)
