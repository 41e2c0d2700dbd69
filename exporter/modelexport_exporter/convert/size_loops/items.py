"""What a loop runs over, where its number is a size: `range`, the rows of a tensor, and of those.

Each has a `count`, a size, and an item `at` a place, which is an integer or the number of a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.convert.size_loops.rows import NotOneStep, RowList, Rows, alike
from modelexport_exporter.torch_internals.symbolic_ranges import SizeRange


class Items(Protocol):
    """What a loop runs over."""

    @property
    def count(self) -> Any:  # noqa: ANN401 - a size
        """How many there are."""

    def at(self, place: Any) -> Any:  # noqa: ANN401
        """Return the item at a place."""


@dataclass(frozen=True)
class _Steps:
    start: Any
    step: int
    count: Any

    def at(self, place: Any) -> Any:  # noqa: ANN401
        return self.start + place * self.step


@dataclass(frozen=True)
class _Along:
    """A tensor's elements along a dim, which they keep if `kept`."""

    x: Tensor
    dim: int
    kept: bool

    @property
    def count(self) -> Any:  # noqa: ANN401
        return self.x.shape[self.dim]

    def at(self, place: Any) -> Any:  # noqa: ANN401
        row = self.x[(*[slice(None)] * self.dim, place)]
        return row.unsqueeze(self.dim) if self.kept else row


@dataclass(frozen=True)
class _Numbered:
    items: Items
    start: int

    @property
    def count(self) -> Any:  # noqa: ANN401
        return self.items.count

    def at(self, place: Any) -> Any:  # noqa: ANN401
        return place + self.start, self.items.at(place)


@dataclass(frozen=True)
class _Zipped:
    parts: Sequence[Items]

    @property
    def count(self) -> Any:  # noqa: ANN401
        return self.parts[0].count

    def at(self, place: Any) -> Any:  # noqa: ANN401
        return tuple(part.at(place) for part in self.parts)


@dataclass(frozen=True)
class _Reversed:
    items: Items

    @property
    def count(self) -> Any:  # noqa: ANN401
        return self.items.count

    def at(self, place: Any) -> Any:  # noqa: ANN401
        return self.items.at(self.count - 1 - place)


_KINDS = (_Steps, _Along, _Numbered, _Zipped, _Reversed, Rows)


def as_items(value: Any) -> Items | None:  # noqa: ANN401
    """Return what a loop over the value runs over; None where Python can count it."""
    if isinstance(value, _KINDS):
        return value
    found: Items | None = None
    if type(value) is SizeRange:
        found = _steps(value)
    elif isinstance(value, Tensor) and value.dim():
        found = _Along(value, 0, kept=False)
    elif isinstance(value, list | tuple):
        parts = list(iter(value))
        if any(isinstance(one, Rows) for one in parts):
            if len(parts) > 1:
                raise NotOneStep
            found = parts[0]
    return found if found is not None and _is_open(found.count) else None


def _is_open(count: Any) -> bool:  # noqa: ANN401
    return isinstance(count, torch.SymInt) and count.node.maybe_as_int() is None


def _steps(numbers: Any) -> _Steps | None:  # noqa: ANN401
    start, step, stop = numbers.start, numbers.step, numbers.stop
    if not isinstance(step, int):
        return None
    rest = stop - start if step > 0 else start - stop
    count = rest if abs(step) == 1 else (rest + (abs(step) - 1)) // abs(step)
    return _Steps(
        start, step, count if statically_known_true(count >= 0) else torch.sym_max(0, count)
    )


_PLAIN: Mapping[str, Any] = {"enumerate": enumerate, "reversed": reversed, "zip": zip}


def items(name: str, *values: Any, **options: Any) -> Any:  # noqa: ANN401
    """Return enumerate, reversed or zip of the values. Raises NotOneStep."""
    start = values[1] if name == "enumerate" and len(values) > 1 else options.get("start", 0)
    found = [as_items(value) for value in (values if name == "zip" else values[:1])]
    if not any(found):
        return _PLAIN[name](*values, **options)
    parts = [one for one in found if one is not None]
    if len(parts) < len(found):
        raise NotOneStep
    if name == "enumerate":
        return _Numbered(parts[0], start)
    if name == "reversed":
        return _Reversed(parts[0])
    if not all(statically_known_true(one.count == parts[0].count) for one in parts):
        raise NotOneStep
    return _Zipped(parts)


def rows(owner: Any, method: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401
    """Return owner.method(…) of a method that makes a list of a tensor's rows."""
    tensor, rest = (owner, args) if owner is not torch else (args[0], args[1:])
    if isinstance(tensor, Tensor) and tensor.dim():
        found = _rows(tensor, method, rest, options)
        if found is not None:
            return found
    return getattr(owner, method)(*args, **options)


def _rows(
    x: Tensor, method: str, args: Sequence[Any], options: Mapping[str, Any]
) -> RowList | None:
    rest, number = list(args), None
    if method != "unbind":
        names = ("split_size", "split_size_or_sections", "chunks")
        named = [options[name] for name in names if name in options]
        number = named[0] if named else rest.pop(0)
    dim = (rest[0] if rest else options.get("dim", 0)) % x.dim()
    size = x.shape[dim]
    singly = {"unbind": True, "split": number == 1, "chunk": number is size}[method]
    if method == "chunk" and isinstance(number, torch.SymInt):
        singly = statically_known_true(number == size)
    if not singly or not _is_open(size):
        return None
    along = x.movedim(dim, 0)
    return RowList([Rows([along if method == "unbind" else along.unsqueeze(dim + 1)])])


def times(one: Any, other: Any) -> Any:  # noqa: ANN401
    """Return `one * other`, of a list of tensors and a size one element for all of them."""
    elements, count = (one, other) if isinstance(one, list) else (other, one)
    tensors = isinstance(elements, list) and all(isinstance(own, Tensor) for own in elements)
    if not tensors or not _is_open(count) or not all(alike(elements[0], own) for own in elements):
        return one * other
    rows_of = torch.stack(elements)
    return RowList([Rows([rows_of.expand(count, *rows_of.shape).flatten(0, 1)])])
