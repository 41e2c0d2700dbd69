"""The user's functions as they are written, where torch.compile decorates them.

Compiled code cannot be captured, raises while the verification watches its calls, and takes a
minute of compilation for each function; it computes the same.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

_plain_compile = torch.compile
_COMPILES_ITSELF = "torch.nn.modules.module"
"""Where the method `compile` of a module calls torch.compile."""
_NEED_A_COMPILER = frozenset({"torch", "modelexport_exporter"})
"""Packages that call torch.compile for a purpose: torch's scan and cond, our latencies."""


def run_as_written() -> None:
    """From now on, let torch.compile return the functions of other packages as they are.

    Modules are wrapped as before: the wrapper has a name in the keys of their weights.
    """
    torch.compile = _compile


@functools.wraps(_plain_compile)
def _compile(model: Callable[..., Any] | None = None, **options: Any) -> Any:  # noqa: ANN401
    caller = str(sys._getframe(1).f_globals.get("__name__", ""))  # noqa: SLF001 - no other door
    needed = caller.partition(".")[0] in _NEED_A_COMPILER and caller != _COMPILES_ITSELF
    if needed or isinstance(model, torch.nn.Module):
        return _plain_compile(model, **options)
    return model if model is not None else functools.partial(_compile, **options)
