"""What torch keeps about a tensor or a module's buffers and shows under private names only."""

from __future__ import annotations

import torch


def is_view(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a view of another."""
    return tensor._is_view()  # noqa: SLF001


def write_count(tensor: torch.Tensor) -> int:
    """Return how often a tensor was written in place."""
    return tensor._version  # noqa: SLF001


def viewed_tensor(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the tensor that this one is a view of; None if it has its own memory."""
    return tensor._base  # noqa: SLF001


def own_buffers(module: torch.nn.Module) -> dict[str, torch.Tensor | None]:
    """Return the buffers that the module itself registered, None included."""
    return module._buffers  # noqa: SLF001


def is_persistent(module: torch.nn.Module, name: str) -> bool:
    """Return whether a buffer of the module is part of its state_dict."""
    known = name in module._buffers  # noqa: SLF001
    return known and name not in module._non_persistent_buffers_set  # noqa: SLF001
