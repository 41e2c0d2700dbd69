"""Inputs of few values, Bool and Int: a path through the model for each, where it needs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from modelexport_api.spec import Input, InputKind
from modelexport_exporter.call.call import Arguments, Call, Leaf
from modelexport_exporter.convert.branches import ModelToCapture
from modelexport_exporter.sampling.draw import FLOATS, integer_range
from modelexport_exporter.torch_internals import pytree
from modelexport_exporter.torch_internals.forced_decisions import MOST_VALUES, ForcedDecisions


def with_chosen_numbers(subject: ModelToCapture) -> Iterator[ModelToCapture]:
    """Yield the model whose Bools are chosen before it runs, then with its Ints of few values."""
    inputs = subject.bound_inputs.call.inputs
    bools = frozenset(entry.name for entry in inputs if entry.kind is InputKind.BOOL)
    ints = frozenset(
        entry.name
        for entry in inputs
        if entry.kind is InputKind.INT and _count(entry) <= MOST_VALUES
    )
    for names in dict.fromkeys((bools, bools | ints)):
        if names:
            bound = subject.bound_inputs
            call = replace(bound.call, chosen=names)
            yield replace(subject, bound_inputs=replace(bound, call=call))


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
        if not isinstance(slot, Leaf) or not isinstance(leaf, torch.Tensor):
            continue  # forward runs eagerly, with Python's numbers
        if slot.entry.name in call.chosen:
            of_bool = slot.entry.kind is InputKind.BOOL
            low, high = (0, 1) if of_bool else integer_range(slot.entry)
            number = decisions.choose(leaf, low, high)
            leaves[place] = bool(number) if of_bool else number
        elif _is_bounded(slot.entry):
            decisions.bounded.add(leaf, *integer_range(slot.entry))
    args, kwargs = pytree.tree_unflatten(leaves, structure)
    return args, kwargs


def _is_bounded(entry: Input) -> bool:
    of_integers = entry.kind is InputKind.TENSOR and entry.dtype not in FLOATS
    return of_integers and entry.range is not None
