"""A call of forward, described by its leaves and their places in `(args, kwargs)`."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim as TorchDim

from modelexport_api.sizes import DimExpression
from modelexport_api.spec import Dim, Input, InputKind
from modelexport_exporter.call.tensors import to_tensor
from modelexport_exporter.call.user_sampler import Sampler, call_sampler
from modelexport_exporter.core.dims import dynamic_size, is_dynamic, range_of
from modelexport_exporter.core.input_kinds import NUMBERS
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import draw, integer_range
from modelexport_exporter.torch_internals import pytree

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
_Hint = Callable[..., TorchDim]
_SMALLEST_SYMBOLIC = 2
"""torch.export writes the integers 0 and 1 into the graph."""
_TRIED = 64


class Numbers(StrEnum):
    """What forward gets for inputs of kind Int, Float and Bool."""

    PYTHON = "Python"
    """Python's own: what eager runs with, and what a scripted graph declares."""
    SYMBOLIC = "Symbolic"
    """For torch.export: it keeps a Python int dynamic, but writes a float or a bool into the graph,
    so these are tensors without dims."""
    TENSORS = "Tensors"
    """Tensors without dims: tracing writes every Python number into the graph."""


@dataclass(frozen=True)
class Leaf:
    """A place that a tensor fills, or a number taken from one."""

    entry: Input
    """A tensor's name, dtype and shape; its kind is that of the declared input."""


@dataclass(frozen=True)
class Constant:
    """A place with a value that never changes; it is no input of the graph."""

    value: Any


@dataclass(frozen=True)
class Call:
    """How forward is called."""

    slots: tuple[Leaf | Constant, ...]
    """In torch.onnx's order: that of the flattened `(args, kwargs)`."""
    structure: pytree.TreeSpec
    """What holds the slots."""
    dims: Mapping[str, Dim]
    sampler: Sampler | None = None
    """The user's own, for examples that cannot be random."""
    code_dir: Path | None = None
    """Of the user's code, for the message of a failure in it."""
    chosen: frozenset[str] = frozenset()
    """Inputs of kind Int that torch.export gets as tensors: forward gets one of few numbers."""

    @classmethod
    def of(cls, args: Iterable[Any], kwargs: Mapping[str, Any], dims: Mapping[str, Dim]) -> Call:
        """Return the call with these arguments, which hold a Leaf or a Constant in each place."""
        slots, structure = pytree.tree_flatten((tuple(args), dict(kwargs)))
        return cls(tuple(slots), structure, dims)

    def with_keywords(self, slots: Mapping[str, Leaf]) -> Call:
        """Return the call with more arguments, which are passed by name, after the others."""
        if not slots:
            return self
        args, kwargs = pytree.tree_unflatten(list(self.slots), self.structure)
        return replace(self, **vars(Call.of(args, {**kwargs, **slots}, self.dims)))

    def with_shapes(self, shapes: Mapping[str, Sequence[int | str]]) -> Call:
        """Return the call with other shapes of its tensors, by their names."""
        slots = tuple(
            Leaf(slot.entry.model_copy(update={"shape": [*shapes[slot.entry.name]]}))
            if isinstance(slot, Leaf)
            else slot
            for slot in self.slots
        )
        return replace(self, slots=slots)

    @property
    def inputs(self) -> list[Input]:
        """Return the tensors that the graph takes, in its order."""
        return [slot.entry for slot in self.slots if isinstance(slot, Leaf)]

    @property
    def input_names(self) -> list[str]:
        """Return the names of the graph's inputs, in its order."""
        return [entry.name for entry in self.inputs]

    def arguments(
        self, values: Mapping[str, torch.Tensor], numbers: Numbers = Numbers.PYTHON
    ) -> Arguments:
        """Return forward's `(args, kwargs)` for tensors by their names."""
        filled = [
            _filled(slot.entry, values[slot.entry.name], self._numbers(slot.entry, numbers))
            if isinstance(slot, Leaf)
            else copy.deepcopy(slot.value)
            for slot in self.slots
        ]
        args, kwargs = pytree.tree_unflatten(filled, self.structure)
        return args, kwargs

    def _numbers(self, entry: Input, numbers: Numbers) -> Numbers:
        chosen = numbers is Numbers.SYMBOLIC and entry.name in self.chosen
        return Numbers.TENSORS if chosen else numbers

    def leaves(self, values: Mapping[str, torch.Tensor]) -> list[Any]:
        """Return the value of each leaf, in order; numbers are Python's."""
        return [_filled(entry, values[entry.name], Numbers.PYTHON) for entry in self.inputs]

    def example(
        self, sizes: Mapping[str, int], seed: int = 0, numbers: Numbers = Numbers.PYTHON
    ) -> Arguments:
        """Return `(args, kwargs)` at these sizes: the same values for the same seed."""
        return self.arguments(self.example_values(sizes, seed), numbers)

    def example_values(self, sizes: Mapping[str, int], seed: int = 0) -> dict[str, torch.Tensor]:
        """Return a tensor for each graph input, by its name. Raises ExportFailure."""
        if self.sampler is None:
            arrays = draw(self.inputs, Sample(dict(sizes), Values.NORMAL, seed))
        else:
            sample = Sample(dict(sizes), Values.SAMPLER, seed)
            arrays = call_sampler(self.sampler, self.inputs, sample, self.code_dir)
        values = {name: to_tensor(array) for name, array in arrays.items()}
        taken = {size for value in values.values() for size in value.shape}
        for entry in self.inputs:
            if entry.kind is InputKind.INT and not (
                self.sampler and _stays_symbolic(values[entry.name], taken)
            ):
                number = _choose_number(entry, taken)
                values[entry.name] = torch.tensor(number)
                taken.add(number)
        return values

    def dynamic_shapes(
        self,
        forward: Any,  # noqa: ANN401 - any callable
        *,
        any_range: bool = False,
    ) -> dict[str, Any]:
        """Return what torch.export takes for arguments with symbolic numbers, by parameter.

        Dims of one name are one Dim. `forward` is what is captured; its signature names the
        arguments. `any_range`: the program may hold for a part of the sizes, which it states.
        """
        dims = {
            name: (
                TorchDim.AUTO(min=dim.min, max=dim.max)
                if any_range
                else TorchDim(name, min=dim.min, max=dim.max)
            )
            for name, dim in self.dims.items()
            if is_dynamic(dim)
        }
        shapes = (
            None
            if isinstance(slot, Leaf) and slot.entry.name in self.chosen
            else _shape(slot, self.dims, dims, TorchDim.AUTO if any_range else TorchDim.DYNAMIC)
            for slot in self.slots
        )
        args, kwargs = _like(self.structure, shapes)
        return dict(inspect.signature(forward).bind(*args, **kwargs).arguments)

    def dynamic_axes(self) -> dict[str, dict[int, str]]:
        """Return the named axes of each input, as the TorchScript route takes them."""
        return {
            entry.name: {
                axis: size
                for axis, size in enumerate(entry.shape)
                if isinstance(size, str)
                and isinstance(dynamic_size(size, self.dims), DimExpression)
            }
            for entry in self.inputs
        }


def _filled(entry: Input, value: torch.Tensor, numbers: Numbers) -> Any:  # noqa: ANN401
    if entry.kind not in NUMBERS or numbers is Numbers.TENSORS:
        return value
    if numbers is Numbers.SYMBOLIC and entry.kind is not InputKind.INT:
        return value
    return value.item()


def _shape(
    slot: Leaf | Constant, declared: Mapping[str, Dim], dims: Mapping[str, TorchDim], hint: _Hint
) -> Any:  # noqa: ANN401
    if isinstance(slot, Constant):
        return pytree.tree_map(lambda _: None, slot.value)
    if slot.entry.kind is InputKind.INT:
        return TorchDim.DYNAMIC
    sizes = {axis: dynamic_size(size, declared) for axis, size in enumerate(slot.entry.shape)}
    axes = {
        axis: _sum(size, declared, hint) if size.is_sum else _derived(size, dims)
        for axis, size in sizes.items()
        if isinstance(size, DimExpression)
    }
    return axes or None


def _sum(size: DimExpression, declared: Mapping[str, Dim], hint: _Hint) -> TorchDim:
    """Return any size of the sum's range: torch has no Dim for a sum, and finds what it equals."""
    least, most = range_of(size, declared)
    return hint(min=least, max=most)


def _derived(size: DimExpression, dims: Mapping[str, TorchDim]) -> TorchDim:
    """Return torch's Dim for a size; torch knows no arithmetic of 1 and 0."""
    found: TorchDim = dims[size.dim]
    found = found * size.factor if size.factor != 1 else found
    return found + size.offset if size.offset else found


def _like(structure: pytree.TreeSpec, leaves: Iterator[Any]) -> Any:  # noqa: ANN401
    """Return the leaves in the structure; a class of the user's becomes the list of its parts.

    That is how torch.export wants dynamic shapes: a class made for tensors may not hold others.
    """
    if structure.is_leaf():
        return next(leaves)
    parts = [_like(part, leaves) for part in structure.children()]
    if structure.type in pytree.BUILTIN_TYPES:
        return pytree.SUPPORTED_NODES[structure.type].unflatten_fn(parts, structure.context)
    return parts


def _stays_symbolic(number: torch.Tensor, taken: Container[int]) -> bool:
    """Return whether torch.export makes neither a constant of an integer nor a size."""
    return int(number) >= _SMALLEST_SYMBOLIC and int(number) not in taken


def _choose_number(entry: Input, taken: Container[int]) -> int:
    """Return an integer in the range of an Int that no size has: torch takes equal ones for one."""
    low, high = integer_range(entry)
    nearest = min(max(_SMALLEST_SYMBOLIC, low), high)
    upwards = range(nearest, min(high, nearest + _TRIED) + 1)
    downwards = range(nearest, max(low, nearest - _TRIED) - 1, -1)
    return next((number for number in (*upwards, *downwards) if number not in taken), nearest)
