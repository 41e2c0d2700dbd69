"""Buffers that forward changes, as arguments and results: a file has no memory between its runs.

`model.state: [memory]` gives the model an input `memory` and an output `next_memory`: eager PyTorch
and the file both start from the input, and return the buffer as forward leaves it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from inspect import Parameter
from types import MethodType
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.torch_internals.tensors_and_buffers import own_buffers

_LISTED = 8


def argument_of(path: str) -> str:
    """Return the name of a buffer's input: `cell_memory` for `cell.memory`."""
    return path.replace(".", "_")


def with_state_arguments(module: torch.nn.Module, paths: Sequence[str]) -> torch.nn.Module:
    """Return the module with a forward that takes these buffers by name, and returns them last.

    All else is shared with the module. Raises ExportFailure for what is no buffer of it.
    """
    if not paths:
        return module
    _check(module, paths)
    plain = module.forward
    names = {argument_of(path): path for path in paths}

    def forward(_: torch.nn.Module, *args: Any, **kwargs: Any) -> tuple[Any, ...]:  # noqa: ANN401
        given = {names[name]: kwargs.pop(name) for name in names}
        places = [_place(module, path) for path in paths]
        kept = [owner[name] for owner, name in places]
        try:
            for (owner, name), path in zip(places, paths, strict=True):
                # A copy: forward may write into it.
                owner[name] = given[path].clone()
            result = plain(*args, **kwargs)
            return result, *(owner[name].clone() for owner, name in places)
        finally:
            for (owner, name), value in zip(places, kept, strict=True):
                owner[name] = value

    signature = inspect.signature(plain)
    taken = [p for p in signature.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    rest = [p for p in signature.parameters.values() if p.kind is Parameter.VAR_KEYWORD]
    own = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=torch.Tensor) for name in names]
    this = Parameter("self", Parameter.POSITIONAL_ONLY)
    forward.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[this, *taken, *own, *rest], return_annotation=Parameter.empty
    )
    adapted = copy.copy(module)
    adapted.forward = MethodType(forward, adapted)
    return adapted


def _check(module: torch.nn.Module, paths: Sequence[str]) -> None:
    buffers = dict(module.named_buffers())
    unknown = [path for path in paths if path not in buffers]
    scripted = isinstance(module, torch.jit.ScriptModule | torch.fx.GraphModule)
    if unknown or scripted:
        found = ", ".join(list(buffers)[:_LISTED]) or "none"
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"model.state: the model has no buffer {', '.join(unknown)}; its buffers: {found}"
            if unknown
            else "model.state: the checkpoint contains its graph, whose state cannot be replaced",
            "Name buffers that the module registers with register_buffer, as named_buffers() does.",
        )
    parameters = inspect.signature(module.forward).parameters
    taken = [path for path in paths if argument_of(path) in parameters]
    if taken:
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"model.state: forward has a parameter {argument_of(taken[0])} already",
            "Rename the buffer or the parameter: the state becomes an argument of that name.",
        )


def _place(module: torch.nn.Module, path: str) -> tuple[dict[str, Any], str]:
    owner, _, name = path.rpartition(".")
    return own_buffers(module.get_submodule(owner)), name
