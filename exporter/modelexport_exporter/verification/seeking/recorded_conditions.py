"""Records the conditions of a run: what is compared, and how the results are combined.

Clamping and rounding compare, too: with their bounds, and with halves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name
from modelexport_exporter.torch_internals.operators import schema_of

ORDERING = frozenset({"gt", "lt", "ge", "le"})
COMPARING = ORDERING | {"eq", "ne"}
ALL_OF = frozenset({"logical_and", "bitwise_and", "mul"})
ANY_OF = frozenset({"logical_or", "bitwise_or"})
NONE_OF = frozenset({"logical_not", "bitwise_not"})
MOVING = frozenset(
    {"unsqueeze", "squeeze", "view", "expand", "transpose", "permute", "select", "slice", "t"}
    | {"reshape", "alias", "detach", "clone"}
)
"""Ops whose elements are those of one argument, in other places."""
OVER = frozenset({"all", "any"})
"""Ops that combine the elements along a dim, or all of them."""
COUNTING = frozenset({"sum", "count_nonzero"})
"""Ops that count the true elements along a dim, or all of them."""
KINKS = frozenset({"relu", "leaky_relu"})
"""Ops with another slope below zero: a file may lack the side on which no value was."""
MARGIN = 1e-3
"""How far from a comparison's edge is near, relative to its operands."""
LONGEST_LIST = 64
"""Elements that are compared with one by one: holidays, blocked ids, edges of buckets."""
LARGEST = 1 << 16
"""Elements of a condition."""


@dataclass(frozen=True)
class Count:
    """How many elements of a condition are true."""

    part: int
    """Place of the condition in the run."""
    origin: torch.Tensor
    """The places of the elements that each count is made of, of shape [counts, k]."""


@dataclass(frozen=True)
class Comparison:
    """One comparison of a run, of two tensors or of a tensor and a number."""

    op: str
    left: torch.Tensor
    right: torch.Tensor
    result: torch.Tensor
    count: Count | None = None
    """If the left operand is a count."""
    is_kink: bool = False
    """Whether both sides meet at the edge: nothing can be wrong there alone."""

    @cached_property
    def apart(self) -> NDArray[np.float64]:
        """Return left minus right, flat."""
        shape = self.result.shape
        left, right = self.left.double().expand(shape), self.right.double().expand(shape)
        apart: NDArray[np.float64] = (left - right).reshape(-1).cpu().numpy()
        return apart

    @cached_property
    def magnitudes(self) -> NDArray[np.float64]:
        """Return the larger operand's magnitude, flat; of integers as if 1 were near."""
        shape = self.result.shape
        left, right = self.left.double().expand(shape), self.right.double().expand(shape)
        larger: NDArray[np.float64] = (
            torch.maximum(left.abs(), right.abs()).reshape(-1).cpu().numpy()
        )
        floats = self.left.is_floating_point() or self.right.is_floating_point()
        return larger if floats else np.maximum(larger, 0.5 / MARGIN)

    @property
    def columns(self) -> int:
        """Return how many elements the right operand has, if it is a list to compare with."""
        shape, count = self.right.shape, self.right.numel()
        listed = self.op == "eq" and self.right.dim() and 1 < count <= LONGEST_LIST
        return count if listed and self.result.shape[-len(shape) :] == shape else 0


@dataclass(frozen=True)
class Combination:
    """A boolean tensor that is made of others."""

    op: str
    parts: tuple[int, ...]
    """Places of the others in the run."""
    result: torch.Tensor
    origin: torch.Tensor | None = None
    """Of MOVING: the place of each element in the other one; of OVER: of shape [elements, k]."""


Condition = Comparison | Combination


class Recording(AtenMode):
    """Records the conditions of a run, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.conditions: list[Condition] = []
        self._places: dict[int, int] = {}
        self._numbers: dict[int, torch.Tensor] = {}
        """Conditions that became numbers, kept so that no other tensor has their id."""
        self._counts: dict[int, Count] = {}

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the op, and record it if it returns a condition."""
        result = func(*args, **kwargs)
        if not isinstance(result, torch.Tensor) or result.numel() > LARGEST:
            return result
        name = op_name(func)
        if name in IMPLICIT:
            self._add_implicit(name, _arguments(schema_of(func), args, kwargs))
        if result.dtype is not torch.bool:
            self._note_number(name, args, result)
            return result
        condition = self._condition(name, func, args, result)
        if condition is not None:
            self._places[id(condition.result)] = len(self.conditions)
            self.conditions.append(condition)
        return result

    def _add_implicit(self, name: str, given: list[torch.Tensor | None]) -> None:
        for op, left, right in IMPLICIT[name](*given):
            result = getattr(torch, op)(left, right)
            if result.numel() <= LARGEST:
                kink = name in KINKS
                self.conditions.append(Comparison(op, left, right, result, is_kink=kink))

    def _note_number(self, name: str, args: tuple[Any, ...], result: torch.Tensor) -> None:
        """Note a condition that becomes a number, and a count of it."""
        place = self._places.get(id(args[0])) if args else None
        if place is None or name not in COUNTING | {"_to_copy"}:
            return
        self._numbers[id(result)] = result
        if name == "_to_copy":
            self._places[id(result)] = place
        else:
            self._counts[id(result)] = Count(place, combined(result, *args))

    def _condition(
        self,
        name: str,
        func: Any,  # noqa: ANN401
        args: tuple[Any, ...],
        result: torch.Tensor,
    ) -> Condition | None:
        if name in COMPARING and isinstance(args[0], torch.Tensor):
            left, right = args[0], torch.as_tensor(args[1])
            if torch.bool in {left.dtype, right.dtype}:
                return None
            count = self._counts.get(id(left))
            return Comparison(name, left.detach(), right.detach(), result, count)
        tensors = [entry for entry in args if isinstance(entry, torch.Tensor)]
        parts = tuple(self._places.get(id(entry), -1) for entry in tensors)
        if not parts or any(place < 0 for place in parts):
            return None
        if name in ALL_OF | ANY_OF | NONE_OF:
            return Combination(name, parts, result)
        if name in MOVING and len(parts) == 1:
            source = tensors[0]
            numbers = torch.arange(source.numel(), device=source.device).reshape(source.shape)
            return Combination(name, parts, result, func(numbers, *args[1:]))
        combines = name in OVER and tensors[0].numel() <= LARGEST
        return Combination(name, parts, result, combined(result, *args)) if combines else None


def record(call: Callable[[], Any]) -> list[Condition]:
    """Return the conditions of a run; raises what the model raises."""
    with torch.no_grad(), Recording() as recording:
        call()
    return list(recording.conditions)


def combined(
    result: torch.Tensor,
    source: torch.Tensor,
    dim: int | Sequence[int] | None = None,
    *_keepdim: object,
) -> torch.Tensor:
    """Return the places of the elements that each element of a reduction is made of."""
    numbers = torch.arange(source.numel()).reshape(source.shape)
    dims = [dim] if isinstance(dim, int) else [*(dim or range(source.dim()))]
    last = numbers.movedim(dims, [*range(-len(dims), 0)]) if dims else numbers
    return in_rows(last, result.numel())


def in_rows(x: torch.Tensor, rows: int) -> torch.Tensor:
    """Return a tensor as so many rows, also of no elements."""
    return x.reshape(rows, x.numel() // max(rows, 1))


Operands = tuple[str, torch.Tensor, torch.Tensor]


def _arguments(
    schema: Any,  # noqa: ANN401
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> list[torch.Tensor | None]:
    """Return all arguments of an op, numbers as tensors; None for the rest."""
    names = [argument.name for argument in schema.arguments]
    given = [*args, *(kwargs.get(name) for name in names[len(args) :])]
    operands = torch.Tensor | int | float
    return [
        torch.as_tensor(entry).detach() if isinstance(entry, operands) else None for entry in given
    ]


def _bounds(
    x: torch.Tensor, low: torch.Tensor | None, high: torch.Tensor | None = None
) -> Iterator[Operands]:
    if low is not None:
        yield "lt", x, low
    if high is not None:
        yield "gt", x, high


def _multiple(x: torch.Tensor, divisor: torch.Tensor | None, *_: object) -> Iterator[Operands]:
    """Compare with the nearest multiple, where a remainder begins again."""
    if divisor is not None and torch.bool not in {x.dtype, divisor.dtype}:
        by = torch.where(divisor == 0, torch.ones_like(divisor), divisor)
        rest = torch.remainder(x, by)
        yield "eq", torch.minimum(rest.abs(), (by - rest).abs()), rest.new_zeros(())


def _kink(x: torch.Tensor, *_: object) -> Iterator[Operands]:
    yield "gt", x, x.new_zeros(())


def _members(x: torch.Tensor, others: torch.Tensor | None, *_: object) -> Iterator[Operands]:
    if others is not None:
        yield "eq", x.reshape(-1, 1), others.reshape(-1)


def _half(x: torch.Tensor, *_: object) -> Iterator[Operands]:
    """Compare with the halves above even and above odd numbers, which go down and up."""
    if x.is_floating_point():
        beyond_even = x - 2 * (x / 2).floor()
        yield "eq", beyond_even, torch.tensor(0.5)
        yield "eq", beyond_even, torch.tensor(1.5)


def _whole(x: torch.Tensor, *_: object) -> Iterator[Operands]:
    if x.is_floating_point():
        yield "eq", x - x.round(), torch.tensor(0.0)


def _ties(
    x: torch.Tensor, dim: torch.Tensor | None = None, *_: object, largest: bool
) -> Iterator[Operands]:
    """Compare the two largest, or smallest: of equal ones the first is chosen."""
    axis = int(dim) if dim is not None else -1
    values = x.reshape(-1) if dim is None else x
    if values.dim() and values.shape[axis] > 1 and x.dtype is not torch.bool:
        first, second = values.topk(2, axis, largest=largest).values.unbind(axis)
        yield "eq", first, second


IMPLICIT: Mapping[str, Callable[..., Iterator[Operands]]] = {
    **dict.fromkeys(KINKS, _kink),
    "clamp": _bounds,
    "hardtanh": _bounds,
    "clamp_min": _bounds,
    "clamp_max": lambda x, high: _bounds(x, None, high),
    "minimum": lambda x, other: _bounds(x, None, other),
    "maximum": _bounds,
    "isin": _members,
    "bucketize": _members,
    "searchsorted": lambda edges, x, *_: _members(x, edges if edges.dim() == 1 else None),
    "remainder": _multiple,
    "fmod": _multiple,
    "floor_divide": _multiple,
    "round": _half,
    "floor": _whole,
    "ceil": _whole,
    "trunc": _whole,
    "argmax": partial(_ties, largest=True),
    "argmin": partial(_ties, largest=False),
}
"""What ops compare that return numbers."""
