"""Constants of classes, `TILE = 16`, which torch.jit.script does not find on `self`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from torch import nn

_SIMPLE = (bool, int, float, str)


@contextmanager
def declared_constants(model: nn.Module) -> Iterator[None]:
    """Declare them to torch.jit.script, for all modules of the model but torch's own."""
    own: dict[type, set[str]] = {}
    for module in model.modules():
        # A parameter or a buffer cannot have the name of a constant: torch refuses it.
        children = (name for name, _ in module.named_children())
        own.setdefault(type(module), set()).update(vars(module), children)
    with ExitStack() as stack:
        for kind, of_instances in own.items():
            constants = [name for name in _constants(kind) if name not in of_instances]
            if constants:
                declared = [*getattr(kind, "__constants__", ()), *constants]
                stack.enter_context(patch.object(kind, "__constants__", declared, create=True))
        yield


def _constants(kind: type) -> list[str]:
    """Return the names of numbers, strings and tuples of them in a class of the user's."""
    found = [
        name
        for base in kind.__mro__
        if base.__module__.partition(".")[0] not in {"torch", "builtins"}
        for name, value in vars(base).items()
        if not name.startswith("__") and _is_simple(value)
    ]
    return [name for name in dict.fromkeys(found) if not hasattr(nn.Module, name)]


def _is_simple(value: object) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_simple, value))
    return type(value) in _SIMPLE
