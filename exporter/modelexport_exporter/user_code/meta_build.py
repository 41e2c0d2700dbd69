"""Building a module without memory for its weights, which come from the checkpoint.

While the factory runs, every parameter is replaced by one on torch's meta device as it is
registered; buffers and plain tensors stay real, because a checkpoint need not hold them
(positions, rotary frequencies). Initialising a meta parameter costs nothing.

Guarantees: parameters that are one object stay one object, and a module in which anything but a
parameter ended up on meta is not returned; the caller builds that one for real. Random numbers
start from a fixed seed, so that two processes that build the same module get the same buffers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.torch_internals.tensors_and_buffers import is_persistent, own_buffers

SEED = 20


def build_on_meta(factory: Callable[[], torch.nn.Module]) -> torch.nn.Module | None:
    """Return the module with its parameters on meta, or None where that cannot be done."""
    seed()
    try:
        with _parameters_on_meta():
            module = factory()
    except ExportFailure:
        return None  # the real build shows whether the factory fails
    return None if stray_meta_tensors(module) else module


def build_for_real(factory: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """Return the module as the factory makes it."""
    seed()
    return factory()


def seed() -> None:
    """Start all random numbers that a factory may draw from the same place."""
    random.seed(SEED)
    torch.manual_seed(SEED)
    try:
        import numpy as np
    except ModuleNotFoundError:  # pragma: no cover - torch works without numpy
        return
    np.random.seed(SEED)  # user code draws from the global generator


@contextmanager
def _parameters_on_meta() -> Iterator[None]:
    register = torch.nn.Module.register_parameter
    on_meta: WeakTensorKeyDictionary = WeakTensorKeyDictionary()

    def register_on_meta(
        module: torch.nn.Module, name: str, param: torch.nn.Parameter | None
    ) -> None:
        if param is not None and not param.is_meta and type(param) is torch.nn.Parameter:
            if param not in on_meta:
                on_meta[param] = torch.nn.Parameter(
                    param.to("meta"), requires_grad=param.requires_grad
                )
            param = on_meta[param]
        register(module, name, param)

    torch.nn.Module.register_parameter = register_on_meta  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register  # type: ignore[method-assign]


def stray_meta_tensors(module: torch.nn.Module) -> list[str]:
    """Return names of meta tensors that no checkpoint can reach: attributes and lost buffers."""
    stray = []
    for prefix, part in module.named_modules():
        for name, buffer in own_buffers(part).items():
            if buffer is not None and buffer.is_meta and not is_persistent(part, name):
                stray.append(f"{prefix}.{name}")
        for name, value in vars(part).items():
            if name not in _TORCH_OWN and not isinstance(part, torch.nn.RNNBase):
                # nn.RNNBase keeps its list of weights up to date itself.
                stray += [f"{prefix}.{name}"] * _holds_meta(value, depth=4)
    return stray


_TORCH_OWN = frozenset(vars(torch.nn.Module()))


def _holds_meta(value: object, depth: int) -> bool:
    if isinstance(value, torch.Tensor):
        return value.is_meta
    if depth == 0 or isinstance(value, torch.nn.Module | type | str | bytes):
        return False
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    else:
        inner = list(getattr(value, "__dict__", {}).values())
    return any(_holds_meta(item, depth - 1) for item in inner)
