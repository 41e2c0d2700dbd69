"""torch.autograd.Function subclasses of the user's that bring their own translation.

The torch.export route traces through `forward` and never asks for `symbolic`; a model that has one
therefore belongs to the TorchScript route first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from modelexport_exporter.user_code.user_frame import is_users


def static_symbolics(code_dir: Path | None) -> tuple[str, ...]:
    """Return the names of the user's Function classes with a `symbolic` of their own."""
    return tuple(
        sorted(
            f"{function.__module__}.{function.__qualname__}"
            for function in _subclasses(torch.autograd.Function)
            if _has_symbolic(function) and _is_users(function, code_dir)
        )
    )


def _has_symbolic(function: type) -> bool:
    """Tell whether the class, or one between it and torch's, defines `symbolic`."""
    between = function.__mro__[: function.__mro__.index(torch.autograd.Function)]
    return any("symbolic" in vars(base) for base in between)


def _is_users(function: type, code_dir: Path | None) -> bool:
    module = sys.modules.get(function.__module__)
    path = getattr(module, "__file__", None)
    return path is not None and is_users(path, code_dir)


def _subclasses(base: type) -> Iterator[type]:
    subclasses: list[type] = base.__subclasses__()
    for subclass in subclasses:
        yield subclass
        yield from _subclasses(subclass)
