"""One dim of a call that can have several sizes: found by asking eager."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

SMALLEST = 2
"""Of a size that is made smaller."""
STEPS = 2
"""How far a size is made smaller or larger."""


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The axes of a call's tensors that have one size in common, and its range."""

    axes: tuple[tuple[int, int], ...]
    """The tensor's place among those of the call, and the axis."""
    smallest: int
    largest: int

    def resized(self, tensors: Sequence[torch.Tensor], size: int) -> tuple[torch.Tensor, ...]:
        """Return the tensors with `size` along the axes: cut, or repeated from the start."""
        found = list(tensors)
        for place, axis in self.axes:
            tensor = found[place]
            found[place] = tensor.index_select(axis, torch.arange(size) % tensor.shape[axis])
        return tuple(found)

    def size(self, number: int) -> int:
        """Return one of the sizes by a number."""
        return self.smallest + number % (self.largest - self.smallest + 1)


def dynamic_dim(
    draws: Sequence[Sequence[torch.Tensor]], function: Callable[..., Any]
) -> Dynamic | None:
    """Return a dim of the first tensor that eager takes in several sizes; None without one.

    The other tensors' axes of the same size go with it, if eager wants them to. `draws`: tensors
    of the same shapes; eager takes all of them.
    """
    for found in _candidates(draws[0]):
        if all(_taken(found, tensors, function) for tensors in draws):
            return found
    return None


def _candidates(tensors: Sequence[torch.Tensor]) -> Iterator[Dynamic]:
    for axis, size in enumerate(tensors[0].shape if tensors else ()):
        if size < SMALLEST:
            continue
        same = tuple(
            (place, own)
            for place, tensor in enumerate(tensors)
            for own, length in enumerate(tensor.shape)
            if length == size
        )
        first = tuple((0, own) for place, own in same if place == 0)
        fellows = tuple((place, own) for place, own in same if own == axis)
        least = max(SMALLEST, size - STEPS)
        for axes in dict.fromkeys((same, fellows, first, ((0, axis),))):
            if least < size:
                # Smaller first: a part of a matrix is as regular as the whole.
                yield Dynamic(axes, least, size)
            yield Dynamic(axes, size, size + STEPS)


def _taken(dynamic: Dynamic, tensors: Sequence[torch.Tensor], function: Callable[..., Any]) -> bool:
    """Return whether eager takes all sizes and returns numbers."""
    shapes = set()
    for size in range(dynamic.smallest, dynamic.largest + 1):
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outputs = function(*(tensor.clone() for tensor in dynamic.resized(tensors, size)))
            except Exception:  # noqa: BLE001 - whatever eager raises
                return False
        leaves = [
            leaf
            for leaf in torch.utils._pytree.tree_leaves(outputs)
            if isinstance(leaf, torch.Tensor)
        ]
        if not any(leaf.numel() and not leaf.isnan().all() for leaf in leaves):
            return False
        shapes.add(tuple(leaf.dim() for leaf in leaves))
    return len(shapes) == 1
