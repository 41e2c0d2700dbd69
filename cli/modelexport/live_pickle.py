"""Pickles what lives in a process: modules without their weights, and arguments.

What is defined in a notebook or a script goes along (cloudpickle), wrappers of training are left
out, and all tensors go to the CPU.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any, BinaryIO

import cloudpickle
import torch
from torch.nn.utils.parametrize import is_parametrized

from modelexport.live_factory import same, script_from, without_init
from modelexport_exporter.user_code.wrappers import innermost

Weights = Mapping[int, tuple[str, torch.Tensor]]
"""Name and tensor by the tensor's id: while the tensor is kept here, its id is not reused."""


class LivePickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Writes a description in place of each weight."""

    def __init__(self, file: BinaryIO, weights: Weights) -> None:
        super().__init__(file)
        self._weights = weights
        self.sources: set[str] = set()
        """Names of the files of functions whose code goes along."""

    def persistent_id(self, found: object) -> tuple[Any, ...] | None:
        """Return the description of a weight; None for anything else."""
        weight = self._weights.get(id(found))
        if weight is None:
            return None
        name, tensor = weight
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        return name, tuple(tensor.shape), tensor.dtype, is_parameter

    def reducer_override(self, found: Any) -> Any:  # noqa: ANN401 - as pickle has it
        """Return how an object is built."""
        if isinstance(found, torch.jit.ScriptModule):
            return script_from, (_script(found),)
        if isinstance(found, torch.nn.Module):
            return self._of_module(found)
        if isinstance(found, torch.Tensor) and not found.is_cpu:
            return same, (_on_cpu(found),)
        if isinstance(found, FunctionType):
            self.sources.add(found.__code__.co_filename)
        return super().reducer_override(found)

    def _of_module(self, module: torch.nn.Module) -> Any:  # noqa: ANN401
        inner = innermost(module)
        if inner is not module:
            return same, (inner,)
        if is_parametrized(module):  # its __getstate__ refuses
            return without_init, (type(module),), dict(vars(module))
        return NotImplemented


def _on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    moved = tensor.detach().cpu()
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(moved, requires_grad=tensor.requires_grad)
    return moved


def _script(module: torch.jit.ScriptModule) -> bytes:
    archive = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch deprecates it; no other way yet
        torch.jit.save(module, archive)
    return archive.getvalue()


def can_pickle(value: object) -> bool:
    """Return whether a value can be pickled."""
    try:
        LivePickler(io.BytesIO(), {}).dump(value)
    except Exception:  # noqa: BLE001 - __reduce__ may be the user's
        return False
    return True


def unpicklable_part(module: torch.nn.Module) -> str | None:
    """Return the attribute that prevents a module from being pickled: `layers.0.lock`."""
    of_torch = vars(torch.nn.Module())
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if (
                name not in of_torch
                and not isinstance(value, torch.Tensor)
                and not can_pickle(value)
            ):
                return f"{path}.{name}".lstrip(".")
    return None
