"""The model inside what training wrapped around it.

Guarantees that what is exported is the network: DataParallel scatters over devices, torch.compile
replaces forward by compiled code, FSDP gathers shards, and none of them belongs into a graph. A
function compiled by TorchScript becomes a module whose forward it is.
"""

from __future__ import annotations

import io
import warnings

import torch

from modelexport_exporter.torch_internals.wrapper_names import (
    CHECKPOINTED,
    COMPILED,
    FABRIC,
    SHARDED,
)

_INNER = (COMPILED, SHARDED, CHECKPOINTED)
"""Names that no one but a wrapper gives to its module."""
SEGMENTS = frozenset(("module", *_INNER, FABRIC))
"""What wrappers put into the names of weights, between dots."""
_PARALLEL = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)


def unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """Return the module without wrappers, at the top and at any depth."""
    module = innermost(module)
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            inner = innermost(child)
            if inner is not child:
                setattr(parent, name, inner)
    return module


def innermost(module: torch.nn.Module) -> torch.nn.Module:
    """Return the module without wrappers at the top; nothing is changed."""
    while True:
        inner = _inner(module)
        if inner is None:
            return module
        module = inner


def _inner(module: torch.nn.Module) -> torch.nn.Module | None:
    if isinstance(module, torch.jit.ScriptModule):
        return None
    if isinstance(module, _PARALLEL):
        parallel: torch.nn.Module = module.module
        return parallel
    children = dict(module.named_children())
    return next((children[name] for name in _INNER if name in children), None)


def as_module(model: object) -> object:
    """Return a function that TorchScript compiled as a module; anything else as it is."""
    if not isinstance(model, torch.jit.ScriptFunction):
        return model
    archive = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch deprecates it; no other way yet
        torch.jit.save(model, archive)
        archive.seek(0)
        return torch.jit.load(archive)  # type: ignore[no-untyped-call]
