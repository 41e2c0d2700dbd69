"""torch.autograd.Function subclasses of the user's that bring their own translation.

The torch.export route traces through `forward` and never asks for `symbolic`; a model that has one
therefore belongs to the TorchScript route first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.core.user_frame import is_users


def find_static_symbolics(code_dir: Path | None, run: Callable[[], object]) -> tuple[str, ...]:
    """Return the user's Function classes with a `symbolic` of their own that a run applies."""
    candidates = [
        function
        for function in _subclasses(torch.autograd.Function)
        if _has_symbolic(function) and _is_users(function, code_dir)
    ]
    return tuple(sorted(_find_applied(candidates, run))) if candidates else ()


def _find_applied(functions: list[type], run: Callable[[], object]) -> set[str]:
    """Return the names of the functions whose forward is called while `run` runs."""
    seen: set[str] = set()
    with ExitStack() as stack:
        for function in functions:
            stack.enter_context(_watch(function, seen))
        run()
    return seen


@contextmanager
def _watch(function: Any, seen: set[str]) -> Iterator[None]:  # noqa: ANN401
    # `apply` may be bound to a name of the user's; it looks `forward` up each time.
    own = vars(function).get("forward")
    original = function.forward

    def forward(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        seen.add(f"{function.__module__}.{function.__qualname__}")
        return original(*arguments, **options)

    function.forward = staticmethod(forward)
    try:
        yield
    finally:
        if own is None:
            del function.forward
        else:
            function.forward = own


def _has_symbolic(function: type) -> bool:
    """Return whether the class, or one between it and torch's, defines `symbolic`."""
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
