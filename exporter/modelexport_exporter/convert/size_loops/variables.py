"""What a variable of a loop's body is to the loop: carried on, appended to, its last value, fixed.

Pure but for the tensors' shapes: decided from the values before a step and after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.convert.size_loops.rows import NotOneStep, RowList, Rows, alike
from modelexport_exporter.torch_internals.pytree import TreeSpec, tree_flatten, tree_unflatten


class Missing:
    """The value of a variable that has none."""


MISSING = Missing()


class Growing(list[Any]):
    """A list to which a step appends: it knows the last elements, and those that are new."""

    def __init__(self, before: Sequence[Any]) -> None:
        super().__init__()
        self._before = list(before)
        self.depth = 0
        """How many of those before the step it reads."""

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401
        added = len(list(iter(self)))
        if not isinstance(place, int) or place >= 0 or -place > added + len(self._before):
            raise NotOneStep
        self.depth = max(self.depth, -place - added)
        return [*self._before, *iter(self)][place]

    def __iter__(self) -> Iterator[Any]:
        return list.__iter__(self)

    def __len__(self) -> int:
        raise NotOneStep


@dataclass
class Variable:
    """One name of a loop's body."""

    name: str
    before: Any
    """Its value before the loop; Missing if it has none, or none that is read."""
    kind: str = "fixed"
    """fixed, carried or growing."""
    structure: TreeSpec | None = None
    """Of what is carried, or of what is appended."""
    pattern: list[Any] = field(default_factory=list)
    """Each leaf's value if it is fixed; MISSING where it is carried."""
    numbers: list[bool] = field(default_factory=list)
    """Of carried leaves: whether it is a number, not a tensor."""
    initial: list[Tensor] = field(default_factory=list)
    """What is carried into the first step."""
    appended: list[TreeSpec] = field(default_factory=list)

    def value(self, carried: Sequence[Tensor]) -> Any:  # noqa: ANN401
        """Return the value in a step, or after the loop, of what is carried."""
        if self.kind == "fixed":
            return self.before
        leaves = iter(carried)
        numbers = iter(self.numbers)
        whole = [
            (_number(next(leaves)) if next(numbers) else next(leaves)) if one is MISSING else one
            for one in self.pattern
        ]
        assert self.structure is not None
        tree = tree_unflatten(whole, self.structure)
        return Growing(tree) if self.kind == "growing" else tree

    def carried_on(self, after: Any) -> list[Tensor]:  # noqa: ANN401
        """Return what a step carries on of its value after it."""
        if self.kind == "fixed":
            return []
        if self.kind == "growing":
            depth = len(self.pattern)
            after = [after[place] for place in range(-depth, 0)]
        leaves = tree_flatten(after)[0]
        return [
            _as_tensor(leaf)
            for leaf, one in zip(leaves, self.pattern, strict=True)
            if one is MISSING
        ]

    def after(self, carried: Sequence[Tensor], results: Sequence[Tensor]) -> Any:  # noqa: ANN401
        """Return its value after the loop."""
        if self.kind != "growing":
            return self.value(carried)
        if not self.appended:
            return self.before
        rest = iter(results)
        each = [[next(rest) for _ in range(structure.num_leaves)] for structure in self.appended]
        first = self.appended[0]
        if any(one != first for one in self.appended):
            raise NotOneStep
        leaves = [_in_turns(same) for same in zip(*each, strict=True)]
        return RowList([*self.before, Rows(leaves, first)])


def _in_turns(stacks: Sequence[Tensor]) -> Tensor:
    """Return rows of several tensors [n, …] in turns: [n * k, …]."""
    if len(stacks) == 1:
        return stacks[0]
    return torch.stack(list(stacks), 1).flatten(0, 1)


def _number(leaf: Tensor) -> Any:  # noqa: ANN401
    return leaf.item()


def _as_tensor(leaf: Any) -> Tensor:  # noqa: ANN401
    if isinstance(leaf, Tensor):
        return leaf
    return torch.scalar_tensor(leaf, dtype=torch.int64)


def plan(
    before: Mapping[str, Any],
    passed: Mapping[str, Any],
    after: Mapping[str, Any],
    used: Sequence[str],
    read: set[int],
    *,
    without: Mapping[str, Any],
) -> list[Variable]:
    """Return what each variable is. Raises NotOneStep.

    `passed`: the values that the step got, `after`: those after it; `used`: names that are used
    after the loop; `read`: the identities of tensors in `passed` that the step used; `without`: the
    values where there is no step.
    """
    found = []
    for name in sorted({*before, *after}):
        value = after.get(name, MISSING)
        old = passed.get(name, MISSING)
        if isinstance(old, Growing):
            found.append(_growing(name, before[name], value, old))
            continue
        if old is MISSING or not _is_read(old, value, read):
            if name in used and value is not MISSING:
                found.append(_last(name, value, without.get(name, MISSING)))
            elif name in before:
                found.append(Variable(name, before[name] if name not in after else MISSING))
            continue
        found.append(_carried(name, before[name], old, value))
    return found


def _is_read(old: Any, new: Any, read: set[int]) -> bool:  # noqa: ANN401
    leaves = tree_flatten(old)[0]
    tensors = [one for one in leaves if isinstance(one, Tensor)]
    if len(tensors) < len(leaves) or not tensors:
        return True
    kept = {id(one) for one in tree_flatten(new)[0]}
    return any(id(one) in read or id(one) in kept for one in tensors)


def _carried(name: str, before: Any, old: Any, new: Any) -> Variable:  # noqa: ANN401
    leaves, structure = tree_flatten(before)
    passed, after = tree_flatten(old)[0], tree_flatten(new)
    if after[1] != structure:
        raise NotOneStep
    variable = Variable(name, before, "carried", structure)
    for first, own, last in zip(leaves, passed, after[0], strict=True):
        if isinstance(first, Tensor):
            if not alike(first, last):
                raise NotOneStep
            _carry(variable, first, number=False)
        elif own is last or _same(own, last):
            variable.pattern.append(first)
        elif isinstance(last, int | torch.SymInt) and not isinstance(last, bool):
            _carry(variable, _as_tensor(first), number=True)
        else:
            raise NotOneStep
    return variable


def _last(name: str, value: Any, without: Any) -> Variable:  # noqa: ANN401
    """Return a variable that no step reads; `without`: its value where there is no step."""
    leaves, structure = tree_flatten(value)
    others, other = tree_flatten(without)
    variable = Variable(name, MISSING, "carried", structure)
    for place, leaf in enumerate(leaves):
        if not isinstance(leaf, Tensor):
            raise NotOneStep
        same = other == structure and alike(leaf, others[place])
        zeros = torch.zeros(tuple(leaf.shape), dtype=leaf.dtype, device=leaf.device)
        _carry(variable, others[place] if same else zeros, number=False)
    return variable


def _growing(name: str, before: Sequence[Any], after: Any, passed: Growing) -> Variable:  # noqa: ANN401
    if after is not passed:
        raise NotOneStep
    variable = Variable(name, before, "growing")
    added = list(iter(passed))
    for element in added:
        leaves, structure = tree_flatten(element)
        if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
            raise NotOneStep
        variable.appended.append(structure)
    tail = list(before)[len(before) - passed.depth :] if passed.depth else []
    leaves, variable.structure = tree_flatten(tail)
    known = [*tail, *added][len(added) :] if passed.depth else []
    for leaf, last in zip(leaves, tree_flatten(known)[0], strict=True):
        if not isinstance(leaf, Tensor) or not alike(leaf, last):
            raise NotOneStep
        _carry(variable, leaf, number=False)
    return variable


def _carry(variable: Variable, initial: Tensor, *, number: bool) -> None:
    variable.pattern.append(MISSING)
    variable.numbers.append(number)
    variable.initial.append(initial)


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401
    if isinstance(one, torch.SymInt) or isinstance(other, torch.SymInt):
        return statically_known_true(one == other)
    return type(one) is type(other) and bool(one == other)
