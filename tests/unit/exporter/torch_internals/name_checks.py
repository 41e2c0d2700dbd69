"""What the tables of private names share: tensors, programs, and checks of signatures."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.onnx._internal.torchscript_exporter import symbolic_helper

X = torch.arange(6.0).reshape(1, 2, 3)
IMAGE, VOLUME = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 4, 4, 4)
TILE = torch.ops.aten.tile.default


@symbolic_helper.parse_args("v")
def parsed(_g: object, x: object) -> object:
    return x


def program(module: torch.nn.Module | None = None) -> torch.export.ExportedProgram:
    return torch.export.export(module or torch.nn.Softshrink(), (X,))


def takes(function: Callable[..., Any], *args: object, **named: object) -> bool:
    """Return whether the function can be called so; fail with the reason if not."""
    inspect.signature(function).bind(*args, **named)
    return True


def parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def imports(name: str) -> bool:
    return bool(importlib.import_module(name))
