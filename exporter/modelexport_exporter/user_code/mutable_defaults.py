"""Lists and dicts that are defaults of parameters: Python makes each once, for all calls."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from types import FunctionType
from typing import Any

import torch

CONTAINERS = (list, dict, set, deque)
_LIBRARIES = frozenset({"torch", "builtins"})


def mutable_defaults(module: torch.nn.Module) -> dict[str, Any]:
    """Return them by `history`, of forward, and `seen of keep`, of other functions.

    Of the methods of the module's parts, and of the functions in the files of their classes.
    """
    return {
        name if function.__name__ == "forward" else f"{name} of {function.__name__}": default
        for function in _functions(module)
        for name, default in _defaults(function)
        if isinstance(default, CONTAINERS)
    }


@contextmanager
def keeping_defaults(module: torch.nn.Module) -> Iterator[None]:
    """Give them their contents of before at the end of the block."""
    contents = [(held, copy(held)) for held in mutable_defaults(module).values()]
    try:
        yield
    finally:
        for held, content in contents:
            refill(held, content)


def refill(held: Any, content: Any) -> None:  # noqa: ANN401 - one of CONTAINERS
    """Give a container other contents."""
    held.clear()
    if isinstance(held, list | deque):
        held.extend(content)
    else:
        held.update(content)


def _functions(module: torch.nn.Module) -> Iterator[FunctionType]:
    classes = dict.fromkeys(own for part in module.modules() for own in type(part).__mro__)
    own = [kind for kind in classes if kind.__module__.partition(".")[0] not in _LIBRARIES]
    files = dict.fromkeys(kind.__module__ for kind in own)
    for kind in own:
        yield from _in(vars(kind))
    for name in files:
        for function in _in(vars(sys.modules.get(name, object))):
            if function.__module__ == name:
                yield function


def _in(names: Any) -> Iterator[FunctionType]:  # noqa: ANN401 - a mapping of anything
    for value in list(names.values()):
        # By its type: isinstance asks objects for their __class__, and some load a module.
        function = value.__func__ if type(value) in {staticmethod, classmethod} else value
        if type(function) is FunctionType:
            yield function


def _defaults(function: FunctionType) -> Iterator[tuple[str, object]]:
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    yield from zip(names[len(names) - len(defaults) :], defaults, strict=True)
    yield from (function.__kwdefaults__ or {}).items()
