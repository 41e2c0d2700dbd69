"""Of which tensors a module is made: what two checkpoints must have in common to share a graph.

It is what can be seen without running the model. A model that reads its weights to decide what to
do is not recognised here but by its verification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

Memory = tuple[object, ...]


@dataclass(frozen=True)
class Slot:
    """A parameter or buffer."""

    shape: tuple[int, ...]
    dtype: str
    same_as: str
    """The first name of the tensor: its own, but for tied weights."""


@dataclass(frozen=True)
class ModuleSignature:
    """What a module is made of, without its values."""

    slots: Mapping[str, Slot]
    description: str
    """`str(module)`: classes and their settings."""

    @staticmethod
    def of(module: torch.nn.Module) -> ModuleSignature:
        """Return the signature of a module."""
        first: dict[Memory, str] = {}
        slots = {}
        for name, tensor in tensors(module):
            same_as = first.setdefault(memory(tensor), name) if tensor.numel() else name
            dtype = str(tensor.dtype).removeprefix("torch.")
            slots[name] = Slot(tuple(tensor.shape), dtype, same_as)
        return ModuleSignature(slots, str(module))

    def difference(self, other: ModuleSignature) -> str:
        """Return what the other has that this has not, as a sentence; empty where they agree."""
        for name in [*self.slots, *other.slots]:
            mine, theirs = self.slots.get(name), other.slots.get(name)
            if mine is None or theirs is None:
                return f"{name} is in {'the other' if mine is None else 'one'} only"
            if mine != theirs:
                return f"{name} is {_describe(theirs, name)}, not {_describe(mine, name)}"
        if self.description != other.description:
            return f"its modules differ: {_first_difference(self.description, other.description)}"
        return ""


def tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield parameters and buffers by every name that they have."""
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def memory(tensor: torch.Tensor) -> Memory:
    """Return what two tensors share when they are one: where they lie, and how."""
    return (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


def _describe(slot: Slot, name: str) -> str:
    tied = f", the same as {slot.same_as}" if slot.same_as != name else ""
    return f"{slot.dtype} {list(slot.shape)}{tied}"


def _first_difference(mine: str, theirs: str) -> str:
    pairs = zip(mine.splitlines(), theirs.splitlines(), strict=False)
    for one, other in pairs:
        if one != other:
            return f"{other.strip()[:200]}, not {one.strip()[:200]}"
    return "one has more of them"
