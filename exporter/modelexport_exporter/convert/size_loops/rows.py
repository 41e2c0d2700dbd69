"""The rows of a tensor as a list of a length that is a size: of what a loop appends, of `unbind`.

Its elements can be stacked, concatenated, reversed, and read from both ends. torch reads the
elements of a list without asking it, so that one element stands for all rows, and answers torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.torch_internals.call_mode import call_name
from modelexport_exporter.torch_internals.pytree import TreeSpec, tree_flatten, tree_unflatten

_REVERSED = slice(None, None, -1)


class NotOneStep(TypeError):  # noqa: N818 - a result, no error
    """A loop that is not the same step for all rows, or whose rows are used in another way.

    `tuple(rows)` and `list(rows)` ask for the length, and do without it if that is a TypeError.
    """


def alike(one: Tensor, other: Any) -> bool:  # noqa: ANN401
    """Return whether the other is a tensor of the same shape and dtype, at all sizes."""
    return (
        isinstance(other, Tensor)
        and one.dtype == other.dtype
        and one.dim() == other.dim()
        and all(statically_known_true(a == b) for a, b in zip(one.shape, other.shape, strict=True))
    )


class Rows:
    """Rows of tensors [n, …]: row i is a tree of their elements at i."""

    stands_for_many = True

    def __init__(self, leaves: Sequence[Tensor], structure: TreeSpec | None = None) -> None:
        self.leaves = list(leaves)
        self._structure = structure or tree_flatten(leaves[0])[1]

    @property
    def count(self) -> Any:  # noqa: ANN401 - a size
        """How many rows there are."""
        return self.leaves[0].shape[0]

    def at(self, place: Any) -> Any:  # noqa: ANN401
        """Return a row."""
        return tree_unflatten([leaf[place] for leaf in self.leaves], self._structure)

    def cut(self, part: slice) -> Rows:
        """Return some of the rows, or all of them reversed."""
        if part == _REVERSED:
            return Rows([leaf.flip(0) for leaf in self.leaves], self._structure)
        return Rows([leaf[part] for leaf in self.leaves], self._structure)

    def stacked(self) -> Tensor:
        """Return the rows as one tensor [n, …]."""
        if len(self.leaves) != 1 or self._structure.num_nodes > 1:
            raise NotOneStep
        return self.leaves[0]

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        joined = _JOINED.get(call_name(func))
        if joined is None:
            raise NotOneStep
        return joined(*args, **(kwargs or {}))


def _stack(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    parts = [one.stacked() if isinstance(one, Rows) else one.unsqueeze(0) for one in tensors]
    whole = parts[0] if len(parts) == 1 else torch.cat(parts)
    return whole.movedim(0, dim)


def _cat(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    parts = [_side_by_side(one.stacked(), dim) if isinstance(one, Rows) else one for one in tensors]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)


def _side_by_side(rows: Tensor, dim: int) -> Tensor:
    """Return rows [n, …, k, …] joined along their own dim `dim`: [… , n * k, …]."""
    place = dim % (rows.dim() - 1)
    return rows.movedim(0, place).flatten(place, place + 1)


_JOINED: Mapping[str, Callable[..., Tensor]] = {
    "stack": _stack,
    **dict.fromkeys(("cat", "concat", "concatenate"), _cat),
}


class RowList(list[Any]):
    """A list in which one element may be `Rows`."""

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401
        whole = list(iter(self))
        if isinstance(place, slice):
            return RowList(self._cut(place))
        if not any(isinstance(one, Rows) for one in whole):
            return whole[place]
        if len(whole) == 1:
            return whole[0].at(place)
        if place >= 0 and not any(isinstance(one, Rows) for one in whole[: place + 1]):
            return whole[place]
        return _stack(whole)[place]  # of no rows, the last one is another element

    def _cut(self, part: slice) -> list[Any]:
        whole = list(iter(self))
        if part == _REVERSED:
            return [one.cut(part) if isinstance(one, Rows) else one for one in reversed(whole)]
        if len(whole) == 1 and isinstance(whole[0], Rows):
            return [whole[0].cut(part)]
        first = part.start if part.stop is None and part.step is None else None
        if isinstance(first, int) and not any(isinstance(one, Rows) for one in whole[:first]):
            return whole[first:]
        raise NotOneStep

    def __iter__(self) -> Iterator[Any]:
        return list.__iter__(self)

    def __reversed__(self) -> Iterator[Any]:
        return iter(self._cut(_REVERSED))

    def reverse(self) -> None:
        """Reverse it in place."""
        list.__setitem__(self, slice(None), self._cut(_REVERSED))

    def __add__(self, other: Any) -> RowList:  # noqa: ANN401
        return RowList([*self, *other])

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        if any(isinstance(one, Rows) for one in self):
            raise NotOneStep
        return list.__len__(self)
