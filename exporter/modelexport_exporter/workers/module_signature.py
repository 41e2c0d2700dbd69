"""The tensors and submodules of a module, which checkpoints must have in common to share a graph.

It is what is known without running the model. A model whose control flow depends on its weights is
detected by verification, not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

Memory = tuple[object, ...]


@dataclass(frozen=True)
class TensorSpec:
    """A parameter or buffer."""

    shape: tuple[int, ...]
    dtype: str
    same_as: str
    """The first name of the tensor: its own, except for tied weights."""


@dataclass(frozen=True)
class ModuleSignature:
    """The structure of a module, without values."""

    slots: Mapping[str, TensorSpec]
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
            slots[name] = TensorSpec(tuple(tensor.shape), dtype, same_as)
        return ModuleSignature(slots, str(module))

    def difference(self, other: ModuleSignature) -> str:
        """Return the first difference as a sentence; empty if there is none."""
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
    """Yield parameters and buffers by each of their names."""
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def memory(tensor: torch.Tensor) -> Memory:
    """Return the memory of a tensor: address and layout, equal for tied weights."""
    return (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


def _describe(spec: TensorSpec, name: str) -> str:
    tied = f", the same as {spec.same_as}" if spec.same_as != name else ""
    return f"{spec.dtype} {list(spec.shape)}{tied}"


def _first_difference(mine: str, theirs: str) -> str:
    pairs = zip(mine.splitlines(), theirs.splitlines(), strict=False)
    for one, other in pairs:
        if one != other:
            return f"{other.strip()[:200]}, not {one.strip()[:200]}"
    return "one has more of them"
