"""A guess from arguments that the user gives: their dtypes, and their sizes to begin with.

Tensors get the names of forward's parameters, and dotted names inside of lists, tuples and dicts.
Other arguments that JSON can hold become constants. For anything else model.exampleInputs stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import torch

from modelexport_api.spec import DType, InputKind
from modelexport_exporter.call.call import Arguments
from modelexport_exporter.call.signature import Signature
from modelexport_exporter.call.tensors import SPEC_DTYPES
from modelexport_exporter.inference.first_guess import is_mask_name, mask_kind
from modelexport_exporter.inference.guess import BATCH, Guess, Guesses
from modelexport_exporter.torch_internals import pytree

_ENOUGH = 16
"""So many numbers of one sign are no accident."""
_MASKS = (torch.bool, torch.int64, torch.int32)


@dataclass(frozen=True)
class Example:
    """Arguments of forward, and a guess of their tensors."""

    guesses: Guesses
    leaves: tuple[Any, ...]
    """The flattened arguments; a name where a tensor is."""
    structure: pytree.TreeSpec
    is_plain: bool
    """Whether names and constants describe the arguments completely."""

    def arguments(self, values: Mapping[str, Any]) -> Arguments:
        """Return forward's `(args, kwargs)` with these tensors, by their names."""
        filled = [values[leaf.name] if isinstance(leaf, _Place) else leaf for leaf in self.leaves]
        args, kwargs = pytree.tree_unflatten(filled, self.structure)
        return args, kwargs


@dataclass(frozen=True)
class _Place:
    name: str


def example_of(arguments: Arguments, signature: Signature) -> Example:
    """Return the example that these arguments are."""
    named = list(_named(arguments, signature))
    described = [name for name, leaf in named if isinstance(leaf, torch.Tensor)]
    leaves, structure = pytree.tree_flatten(arguments)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    plain = len(described) == len(tensors) and all(_is_plain(leaf) for _, leaf in named)
    names = described if plain else [f"input_{place}" for place in range(len(tensors))]
    unnamed = iter(names)
    places = [_Place(next(unnamed)) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    guesses = Guesses((), {})
    entries = named if plain else list(zip(names, tensors, strict=True))
    for name, leaf in entries:
        guesses = _with_leaf(guesses, name, leaf)
    return Example(_with_batch(guesses), tuple(places), structure, plain)


def _named(arguments: Arguments, signature: Signature) -> Iterator[tuple[str, Any]]:
    """Yield each leaf with its dotted name."""
    args, kwargs = arguments
    names = signature.ordered
    rest = signature.variadic(Parameter.VAR_POSITIONAL)
    for place, value in enumerate(args):
        known = place < len(names)
        name = names[place] if known else f"{rest or 'args'}.{place - len(names)}"
        yield from _parts(name, value)
    for name, value in kwargs.items():
        yield from _parts(name, value)


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    if type(value) in {list, tuple}:
        for place, item in enumerate(value):
            yield from _parts(f"{name}.{place}", item)
    elif type(value) is dict:
        for key, item in value.items():
            yield from _parts(f"{name}.{key}", item)
    else:
        yield name, value


def _is_plain(leaf: Any) -> bool:  # noqa: ANN401
    return isinstance(leaf, torch.Tensor | bool | int | float | str | None)


def _with_leaf(guesses: Guesses, name: str, leaf: Any) -> Guesses:  # noqa: ANN401
    if not isinstance(leaf, torch.Tensor):
        constant = Guess(name, DType.FLOAT32, (), InputKind.CONSTANT, value=leaf)
        return guesses.with_input(constant)
    axes = tuple(f"{name}.{axis}" for axis in range(leaf.dim()))
    is_mask = is_mask_name(name) and leaf.dtype in _MASKS and leaf.dim() > 0
    kind = mask_kind(name) if is_mask else InputKind.TENSOR
    for axis, size in zip(axes, leaf.shape, strict=True):
        guesses = guesses.with_size(axis, size)
    limits = None if is_mask else _range(leaf)
    return guesses.with_input(Guess(name, SPEC_DTYPES[leaf.dtype], axes, kind, limits))


def _range(leaf: torch.Tensor) -> tuple[float, float] | None:
    """Return the range of an example of integers; floats are drawn as if they were normal.

    Floats of one sign stay within their range: a logarithm may follow.
    """
    if leaf.dtype is torch.bool or not leaf.numel() or leaf.is_complex():
        return None
    low, high = float(leaf.min()), float(leaf.max())
    if leaf.is_floating_point():
        return (low, high) if leaf.numel() >= _ENOUGH and 0 <= low < high else None
    return low, high


def _with_batch(guesses: Guesses) -> Guesses:
    """Return the guesses with the first axes of all inputs as one, if their sizes are equal."""
    first = [one.axes[0] for one in guesses.inputs if one.axes]
    sizes = {guesses.sizes[axis] for axis in first}
    if len(sizes) != 1:
        return guesses
    for axis in first:
        guesses = guesses.renamed(axis, BATCH)
    return guesses.with_size(BATCH, sizes.pop())
