"""Integer inputs of few values: a path through the model for each, where it needs the number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from modelexport_api.spec import Input, InputKind
from modelexport_exporter.call.call import Arguments, Call, Leaf
from modelexport_exporter.convert.branches import ModelToCapture
from modelexport_exporter.sampling.draw import FLOATS, integer_range
from modelexport_exporter.torch_internals import pytree
from modelexport_exporter.torch_internals.forced_decisions import MOST_VALUES, ForcedDecisions


def with_chosen_numbers(subject: ModelToCapture) -> ModelToCapture | None:
    """Return the model whose Ints of few values are chosen before it runs; None if it has none."""
    bound = subject.bound_inputs
    names = frozenset(
        entry.name
        for entry in bound.call.inputs
        if entry.kind is InputKind.INT and _count(entry) <= MOST_VALUES
    )
    if not names:
        return None
    return replace(subject, bound_inputs=replace(bound, call=replace(bound.call, chosen=names)))


def _count(entry: Input) -> int:
    low, high = integer_range(entry)
    return high - low + 1


def with_numbers(
    call: Call, decisions: ForcedDecisions, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Arguments:
    """Return the arguments with one of its numbers in place of each chosen input's tensor.

    The ranges of the other integers are noted.
    """
    leaves, structure = pytree.tree_flatten((args, kwargs))
    if len(leaves) != len(call.slots):
        return args, kwargs
    for place, (leaf, slot) in enumerate(zip(leaves, call.slots, strict=True)):
        if isinstance(slot, Leaf) and slot.entry.name in call.chosen:
            leaves[place] = decisions.choose(leaf, *integer_range(slot.entry))
        elif isinstance(slot, Leaf) and _is_bounded(slot.entry, leaf):
            decisions.bounded.add(leaf, *integer_range(slot.entry))
    args, kwargs = pytree.tree_unflatten(leaves, structure)
    return args, kwargs


def _is_bounded(entry: Input, leaf: object) -> bool:
    return (
        isinstance(leaf, torch.Tensor)
        and entry.kind is InputKind.TENSOR
        and entry.dtype not in FLOATS
        and entry.range is not None
    )
