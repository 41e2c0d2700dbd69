"""Both sides of an `if` on sizes as one: paddings of 0, and crops to the size that is there.

`if h % 8: x = F.pad(x, (0, 0, 0, 8 - h % 8))` is one padding of `-h % 8`, and the crop at its end
one to the size before. What does anything else is left to Python, which decides by the example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.convert.size_choices.conditions import (
    SizeCondition,
    chosen,
    is_size,
)
from modelexport_exporter.torch_internals.call_mode import CallMode, call_name
from modelexport_exporter.torch_internals.pytree import tensors_in

_SAME_VALUES = frozenset({"contiguous", "clone"})
_READING = frozenset({"size", "dim", "numel", "__get__", "is_floating_point"})


class NotOneGraph(Exception):  # noqa: N818 - a result, no error
    """Both sides cannot be one."""


class Choice:
    """An `if` or a conditional expression, its condition evaluated."""

    def __init__(self, condition: Any) -> None:  # noqa: ANN401
        self.condition = condition
        self.symbolic = isinstance(condition, SizeCondition)
        self._mode: Any = None
        self._made: dict[int, tuple[Tensor, Tensor]] = {}
        self.old: Mapping[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(self.condition)

    def __enter__(self) -> None:
        self._mode = _Masking(self.condition, self._made)
        self._mode.__enter__()

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(*error)

    def remember(self, variables: Mapping[str, Any]) -> None:
        """Remember the local variables before it."""
        self.old = dict(variables)

    def keeps(self, names: Sequence[str], variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables of these names that there are."""
        return {name: variables[name] for name in names if name in variables}

    def merged(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables after both sides. Raises NotOneGraph."""
        names = {**one, **other}
        return {
            name: self.value(one[name], other[name])
            if name in one and name in other
            else names[name]
            for name in names
        }

    def written(self, name: str, after: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the list of this name, with its elements after both sides."""
        values = self.old[name]
        values[:] = after[name]
        return values

    def value(self, one: Any, other: Any) -> Any:  # noqa: ANN401
        """Return `one` where the condition holds, else `other`. Raises NotOneGraph."""
        if one is other or (
            type(one) is type(other) and isinstance(one, str | bool) and one == other
        ):
            return one
        if is_size(one) and is_size(other):
            return chosen(self.condition, one, other)
        if isinstance(one, Tensor) and isinstance(other, Tensor):
            return self._tensor(one, other)
        alike = type(one) is type(other) and isinstance(one, tuple | list)
        if alike and len(one) == len(other):
            return type(one)(self.value(a, b) for a, b in zip(one, other, strict=True))
        raise NotOneGraph

    def _tensor(self, one: Tensor, other: Tensor) -> Tensor:
        _, root = self._made.get(id(one), (one, None))
        if root is not other or one.dim() != other.dim():
            raise NotOneGraph
        holds = self.condition.truth
        for new, old in zip(one.shape, other.shape, strict=True):
            if not statically_known_true(holds | (new == old)):
                raise NotOneGraph
        return one


class _Masking(CallMode):
    """Pads by 0 where the condition does not hold; notes what has the elements of which tensor."""

    def __init__(self, condition: SizeCondition, made: dict[int, tuple[Tensor, Tensor]]) -> None:
        super().__init__()
        self._condition, self._made = condition, made

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        name = call_name(func)
        if name in _READING or not tensors_in((args, dict(kwargs))):
            return func(*args, **kwargs)
        if func is F.pad:
            return self._padded(*args, **kwargs)
        if (name == "__getitem__" and _is_crop(args[1])) or name in _SAME_VALUES:
            return self._note(func(*args, **kwargs), args[0])
        raise NotOneGraph

    def _padded(self, x: Tensor, pad: Sequence[Any], *args: Any, **kwargs: Any) -> Tensor:  # noqa: ANN401
        if not all(map(is_size, pad)):
            raise NotOneGraph
        amounts: list[Any] = [chosen(self._condition, amount, 0) for amount in pad]
        return self._note(F.pad(x, amounts, *args, **kwargs), x)

    def _note(self, result: Tensor, source: Tensor) -> Tensor:
        _, root = self._made.get(id(source), (source, source))
        self._made[id(result)] = (result, root)
        return result


def _is_crop(index: Any) -> bool:  # noqa: ANN401
    """Return whether an index leaves elements at the end of dims out, and nothing else."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is Ellipsis
        or (isinstance(part, slice) and part.step in (None, 1) and part.start in (None, 0))
        for part in parts
    )


def choose(condition: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return `one() if condition else other()`."""
    choice = Choice(condition)
    if choice.symbolic:
        try:
            with choice:
                both = one(), other()
            return choice.value(*both)
        except Exception:  # noqa: BLE001 - one side may be meant for its own sizes alone
            choice.symbolic = False
    return one() if choice else other()
